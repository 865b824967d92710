"""Facts that are known, built in memory."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid5

from builders.episodes import HOME
from nous.domain.episode import CandidateFact
from nous.domain.events import NAMESPACE, episode_id
from nous.domain.fact import Source
from nous.domain.scope import Scope
from nous.embedding.base import Embedder
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.decision import FactDecision, LearnContext, LearnDecisions
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.learn import learn
from nous.knowledge.verdict import Policy

AT = datetime(2026, 1, 1, tzinfo=UTC)


def nothing(embedder: Embedder | None = None) -> FactIndex:
    """A scope that knows nothing yet."""
    by = embedder or HashingEmbedder()
    return FactIndex(embedder_id=by.id, dim=by.dim)


def source(session: str, *, said_at: datetime | None = None) -> Source:
    return Source(
        episode_id=episode_id(HOME, session),
        event_id=uuid5(NAMESPACE, f"event of {session}"),
        session_id=session,
        turns=(),
        said_at=said_at,
        digest="ab" * 32,
        by="extractive",
    )


def taught(
    knowledge: FactIndex,
    *candidates: CandidateFact | str,
    session: str = "first",
    said_at: datetime | None = None,
    policy: Policy | None = None,
) -> Sequence[FactDecision]:
    """What *session* teaches; *knowledge* then holds it."""
    facts = [CandidateFact(text=each, turns=(1,)) if isinstance(each, str) else each for each in candidates]
    learn_context = LearnContext(
        scope=Scope(), source=source(session, said_at=said_at), policy=policy or Policy(near=0.5), at=AT
    )
    vectors = [*HashingEmbedder(dim=knowledge.dim).embed([fact.text for fact in facts])]
    learning: LearnDecisions = learn(facts, vectors, knowledge=knowledge, learn_context=learn_context)
    knowledge.extend(learning.rows, learning.vectors)
    return learning.decisions


def id_of(knowledge: FactIndex, text: str) -> UUID:
    """The id of the fact with exactly this text."""
    return next(known.fact.id for known in knowledge if known.fact.text == text)
