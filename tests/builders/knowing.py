"""Facts that are known, built in memory."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid5

from builders.episodes import HOME
from nous.domain.episode import NAMESPACE, CandidateFact, Trust, episode_id
from nous.domain.fact import Source
from nous.domain.scope import Scope
from nous.embedding.base import Embedder
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.decision import FactDecision, LearnContext, LearnDecisions, fact_id
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.judge import judge
from nous.knowledge.learn import embed_late, learn
from nous.knowledge.verdict import Adjudication, AlreadyKnown, Policy, Relation, Richer

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
    ruling: Relation | None = None,
    has_vector: bool = True,
) -> Sequence[FactDecision]:
    """Learn from *session* into *knowledge*. A model gives each pair with a known fact the *ruling*."""
    facts = [CandidateFact(text=each, turns=(1,)) if isinstance(each, str) else each for each in candidates]
    said_by = source(session, said_at=said_at)
    rulings = {known.fact.id: Adjudication(ruling, by="the tests", why="so") for known in knowledge if ruling}
    adjudications = {fact_id(said_by.episode_id, fact.text): rulings for fact in facts}
    learn_context = LearnContext(
        scope=Scope(), source=said_by, policy=policy or Policy(near=0.5), at=AT, adjudications=adjudications
    )
    vectors = HashingEmbedder(dim=knowledge.dim).embed([fact.text for fact in facts])
    given = [*vectors] if has_vector else [None] * len(facts)
    learning: LearnDecisions = learn(facts, given, knowledge=knowledge, learn_context=learn_context)
    knowledge.extend(learning.rows, learning.vectors)
    return learning.decisions


class Scene:
    """A scope that sessions tell of something, month by month."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy(near=0.5, one_sided=0.6)
        self.knowledge = nothing()

    def hear(
        self,
        text: str,
        *,
        month: int,
        trust: Trust = Trust.USER,
        subject: str = "API",
        session: str = "",
        ruling: Relation | None = None,
        has_vector: bool = True,
    ) -> FactDecision:
        decision, *_ = taught(
            self.knowledge,
            CandidateFact(text=text, subject=subject, trust=trust),
            session=session or f"month {month}",
            said_at=datetime(2026, month, 1, tzinfo=UTC),
            policy=self.policy,
            ruling=ruling,
            has_vector=has_vector,
        )
        return decision

    def mend(self) -> list[str]:
        """The verdicts on the facts that waited for a vector."""
        waiting = list(self.knowledge.without_vector())
        vectors = HashingEmbedder().embed([known.fact.text for known in waiting])
        pairs = list(zip(waiting, vectors, strict=True))
        mending = embed_late(pairs, knowledge=self.knowledge, policy=self.policy, at=AT)
        self.knowledge.extend(mending.rows, mending.vectors)
        return [each.verdict.name for each in mending.decisions]

    @property
    def current(self) -> list[str]:
        return [known.fact.text for known in self.knowledge.current()]


def id_of(knowledge: FactIndex, text: str) -> UUID:
    """The id of the fact with exactly this text."""
    return next(known.fact.id for known in knowledge if known.fact.text == text)


def twins(number: int) -> tuple[str, str]:
    """One thing, said in two ways that no exact comparison brings together."""
    return (
        f"The retry limit of service-{number} is {number + 3} attempts",
        f"Retry limit for service-{number}: {number + 3} attempts",
    )


def said_twice(knowledge: FactIndex, embedder: Embedder, policy: Policy) -> list[str]:
    """Every current fact that the judge, asked afresh, takes for another current one."""
    found: list[str] = []
    for known in knowledge.current():
        [vector] = embedder.embed([known.fact.text])
        others = [each for each in knowledge.near(vector, policy.near) if each.fact_id != known.fact.id]
        if isinstance(judge(known.statement, others, policy), AlreadyKnown | Richer):
            found.append(known.fact.text)
    return found
