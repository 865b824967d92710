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
from nous.embedding.hashing import Hashed
from nous.facts.decision import Finding, Learning, Occasion
from nous.facts.fact_index import Knowledge
from nous.facts.learn import learn
from nous.facts.verdict import Policy

AT = datetime(2026, 1, 1, tzinfo=UTC)


def nothing(embedder: Embedder | None = None) -> Knowledge:
    """A scope that knows nothing yet."""
    by = embedder or Hashed()
    return Knowledge(embedder_id=by.id, dim=by.dim)


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
    knowledge: Knowledge,
    *candidates: CandidateFact | str,
    session: str = "first",
    said_at: datetime | None = None,
    policy: Policy | None = None,
) -> Sequence[Finding]:
    """What *session* teaches; *knowledge* then holds it."""
    facts = [CandidateFact(text=each, turns=(1,)) if isinstance(each, str) else each for each in candidates]
    occasion = Occasion(
        scope=Scope(), source=source(session, said_at=said_at), policy=policy or Policy(near=0.5), at=AT
    )
    vectors = [*Hashed(dim=knowledge.dim).embed([fact.text for fact in facts])]
    learning: Learning = learn(facts, vectors, knowledge=knowledge, occasion=occasion)
    knowledge.extend(learning.rows, learning.vectors)
    return learning.findings


def id_of(knowledge: Knowledge, text: str) -> UUID:
    """The id of the fact with exactly this text."""
    return next(known.fact.id for known in knowledge if known.fact.text == text)
