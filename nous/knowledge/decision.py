"""Decision on a candidate fact, and the log rows that record it."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from nous.domain.episode import CandidateFact
from nous.domain.fact import Confirmed, Fact, Learned, Row, Source, Superseded
from nous.domain.fact import Linked as LinkedRow
from nous.domain.scope import Scope
from nous.knowledge.adjudication import Rulings
from nous.knowledge.fact_index import FactIndex, KnownFact
from nous.knowledge.judge import AlreadyKnown, LinkedTo, NewFact, Richer, Supersedes, Verdict
from nous.knowledge.normalize import exact_form
from nous.knowledge.precedence import TrustedFact, outdated
from nous.knowledge.verdict import Policy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnContext:
    """Context in which facts are learned: scope, source, policy, time and adjudications.

    `adjudications` settle pairs that the policy left open. `stated_forms` has the exact forms of all candidates of the
    source.
    """

    scope: Scope
    source: Source
    policy: Policy
    at: datetime
    adjudications: Rulings = field(default_factory=dict)
    stated_forms: frozenset[str] = frozenset()

    @property
    def said_at(self) -> datetime:
        return self.source.said_at or self.at


@dataclass(frozen=True, slots=True, kw_only=True)
class FactDecision:
    """Decision on a candidate: verdict, the fact that now states it, and the superseded fact.

    `rows` is empty if the candidate added nothing, not even a wording. `has_new_source` is false if an episode repeats
    itself in other words. `correction` supersedes a fact that a known fact contradicts, now that a more trusted source
    states the known one.
    """

    candidate: CandidateFact
    verdict: Verdict
    fact: Fact
    replaced: Fact | None = None
    rows: tuple[Row, ...] = ()
    has_new_source: bool = True
    correction: Supersedes | None = None

    @property
    def has_new_fact(self) -> bool:
        return any(isinstance(row, Learned) for row in self.rows)

    @property
    def other_id(self) -> UUID | None:
        """Return the known fact that the verdict names; None for a new fact."""
        return None if isinstance(self.verdict, NewFact) else self.verdict.fact_id


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnDecisions:
    """Decisions in the order of the candidates, and the vectors of new facts."""

    decisions: tuple[FactDecision, ...]
    vectors: "dict[UUID, NDArray[np.float32]]" = field(default_factory=dict)

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for fact_decision in self.decisions for row in fact_decision.rows)


def fact_id(episode_id: UUID, text: str) -> UUID:
    """Return the deterministic id of a fact that *episode_id* taught with *text*.

    Learning is idempotent: the same episode and text always give the same id.
    """
    return uuid5(episode_id, exact_form(text))


def confirmed(
    candidate: CandidateFact, verdict: AlreadyKnown, known: FactIndex, learn_context: LearnContext
) -> FactDecision:
    """Record that the fact named by *verdict* was stated again.

    The wording is kept as evidence, no matter which source used it.
    """
    fact = known[verdict.fact_id]
    source = _source(candidate, learn_context)
    line = known.revisions(exact_form(candidate.text))
    row = Confirmed(
        fact_id=verdict.fact_id,
        source=source,
        text=candidate.text,
        reason=verdict.reason,
        at=learn_context.at,
        similarity=verdict.similarity,
        merged_from=line[0].fact.id if line[1:] and line[-1].fact.id == verdict.fact_id else None,
    )
    is_new = not fact.was_said_in(source.episode_id)
    return FactDecision(candidate=candidate, verdict=verdict, fact=fact.fact, rows=(row,), has_new_source=is_new)


def learned(
    candidate: CandidateFact,
    verdict: NewFact | Richer | Supersedes | LinkedTo,
    known: FactIndex,
    learn_context: LearnContext,
    *,
    embedder: str | None,
) -> FactDecision:
    """Record a new fact, and the effect of *verdict* on the known fact that it names.

    *embedder* is the id of the embedder that made the fact's vector; None if it has none.
    """
    fact = _new_fact(candidate, learn_context)
    new = Learned(fact=fact, reason=verdict.reason, embedded_by=embedder)
    match verdict:
        case NewFact():
            return FactDecision(candidate=candidate, verdict=verdict, fact=fact, rows=(new,))
        case LinkedTo():
            link = linked(fact.id, verdict, at=learn_context.at)
            return FactDecision(candidate=candidate, verdict=verdict, fact=fact, rows=(new, link))
        case Richer(fact_id=other, reason=reason, similarity=similarity):
            gone = Superseded(fact_id=other, by=fact.id, reason=reason, at=learn_context.at, similarity=similarity)
            return FactDecision(
                candidate=candidate, verdict=verdict, fact=fact, replaced=known[other].fact, rows=(new, gone)
            )
        case Supersedes():
            return _contradicting(candidate, verdict, fact, known[verdict.fact_id], learn_context, new)


def correcting(
    fact_decision: FactDecision, verdict: Supersedes, other: KnownFact, learn_context: LearnContext
) -> FactDecision:
    """Add a supersession to *fact_decision*: of its fact and *other*, the one stated earlier."""
    past, gone = outdated(
        TrustedFact.of(other),
        _said(fact_decision.fact, fact_decision.candidate, learn_context),
        verdict,
        at=learn_context.at,
    )
    return replace(fact_decision, rows=(*fact_decision.rows, gone), replaced=past, correction=verdict)


def _contradicting(
    candidate: CandidateFact,
    verdict: Supersedes,
    fact: Fact,
    other: KnownFact,
    learn_context: LearnContext,
    new: Learned,
) -> FactDecision:
    """Record *fact* and supersede the one stated earlier of *fact* and *other*.

    They cannot both be true.
    """
    past, gone = outdated(TrustedFact.of(other), _said(fact, candidate, learn_context), verdict, at=learn_context.at)
    reason = f"{verdict.reason}; the other was said later"
    late = LinkedTo(fact_id=verdict.fact_id, reason=reason, similarity=verdict.similarity)
    shown = late if past is fact else verdict
    return FactDecision(candidate=candidate, verdict=shown, fact=fact, replaced=past, rows=(new, gone))


def linked(fact_id: UUID, verdict: LinkedTo, *, at: datetime) -> LinkedRow:
    """Return the row that links a fact to the one that *verdict* names."""
    return LinkedRow(
        fact_id=fact_id,
        other=verdict.fact_id,
        reason=verdict.reason,
        at=at,
        similarity=verdict.similarity,
        kind=verdict.kind,
        likelihood=verdict.likelihood,
    )


def _said(fact: Fact, candidate: CandidateFact, learn_context: LearnContext) -> TrustedFact:
    return TrustedFact(fact, first=learn_context.said_at, last=learn_context.said_at, trust=candidate.trust)


def _new_fact(candidate: CandidateFact, learn_context: LearnContext) -> Fact:
    return Fact(
        id=fact_id(learn_context.source.episode_id, candidate.text),
        scope=learn_context.scope,
        text=candidate.text.strip(),
        category=candidate.category,
        subject=candidate.subject,
        confidence=candidate.confidence,
        source=_source(candidate, learn_context),
        learned_at=learn_context.at,
        event_date=candidate.event_date,
    )


def _source(candidate: CandidateFact, learn_context: LearnContext) -> Source:
    """Return the context's source with the trust and the turns of the candidate.

    A candidate that names no turns keeps those of the context's source.
    """
    return replace(learn_context.source, turns=candidate.turns or learn_context.source.turns, trust=candidate.trust)
