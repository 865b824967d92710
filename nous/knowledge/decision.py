"""Turn a given verdict on a candidate fact into fact-log rows and events. No I/O."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID, uuid5

from nous.domain.episode import NAMESPACE, CandidateFact
from nous.domain.events import (
    EpisodesUnembedded,
    Event,
    FactConfirmed,
    FactEvent,
    FactLearned,
    FactLinked,
    FactsUnembedded,
    FactSuperseded,
)
from nous.domain.fact import Confirmed, Fact, Learned, Row, Source, Superseded
from nous.domain.fact import Linked as LinkedRow
from nous.domain.scope import NO_SESSION, Scope
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.normalize import exact_form
from nous.knowledge.precedence import TrustedFact, outdated
from nous.knowledge.verdict import (
    AlreadyKnown,
    LinkedTo,
    NewFact,
    Policy,
    Richer,
    Rulings,
    Supersedes,
    UncertainFact,
    Verdict,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Waiting = TypeVar("Waiting", FactsUnembedded, EpisodesUnembedded)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnContext:
    """Context of learning: a model's `adjudications`, and the `stated_forms` of all candidates."""

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
    """Decision on a statement: verdict, the fact that now states it, and the superseded fact.

    `rows` is empty if the statement added nothing, not even a wording. `has_new_source` is false if an episode repeats
    itself in other words, and for a known fact that is compared late.
    """

    text: str
    source: Source
    verdict: Verdict
    fact: Fact
    rows: tuple[Row, ...] = ()
    replaced: Fact | None = None
    has_new_source: bool = False

    @property
    def other_id(self) -> UUID | None:
        """Return the known fact that the verdict names; None for a new fact."""
        return None if isinstance(self.verdict, NewFact) else self.verdict.fact_id


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnDecisions:
    """Decisions in order, the facts that the texts leave `uncertain`, and vectors of the rows."""

    decisions: tuple[FactDecision, ...]
    uncertain: tuple[UncertainFact, ...] = ()
    vectors: "dict[UUID, NDArray[np.float32]]" = field(default_factory=dict)

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for fact_decision in self.decisions for row in fact_decision.rows)


def fact_id(episode_id: UUID, text: str) -> UUID:
    """Return the id of a fact; the same episode and text always give the same."""
    return uuid5(episode_id, exact_form(text))


def confirmed(
    candidate: CandidateFact, verdict: AlreadyKnown, known: FactIndex, learn_context: LearnContext
) -> FactDecision:
    """Record that a source stated a known fact again, with its words as evidence."""
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
    return FactDecision(
        text=candidate.text,
        source=source,
        verdict=verdict,
        fact=fact.fact,
        rows=(row,),
        has_new_source=not fact.was_said_in(source.episode_id),
    )


def learned(
    candidate: CandidateFact,
    verdict: NewFact | Richer | Supersedes | LinkedTo,
    known: FactIndex,
    learn_context: LearnContext,
    *,
    embedder: str | None,
) -> FactDecision:
    """Record a new fact and its effect on the known one; *embedder* made its vector, if any."""
    claim = claimed(candidate, learn_context)
    fact = claim.fact
    row = Learned(fact=fact, reason=verdict.reason, embedded_by=embedder)
    decision = FactDecision(
        text=candidate.text, source=fact.source, verdict=verdict, fact=fact, rows=(row,), has_new_source=True
    )
    return with_effect(decision, claim, known, at=learn_context.at)


def with_effect(decision: FactDecision, said: TrustedFact, known: FactIndex, *, at: datetime) -> FactDecision:
    """Add what the verdict on the fact *said* does to the known fact that it names."""
    verdict, fact = decision.verdict, decision.fact
    match verdict:
        case LinkedTo():
            return replace(decision, rows=(*decision.rows, linked(fact.id, verdict, at=at)))
        case Richer(fact_id=other):
            gone = Superseded(fact_id=other, by=fact.id, reason=verdict.reason, at=at, similarity=verdict.similarity)
            return replace(decision, rows=(*decision.rows, gone), replaced=known[other].fact)
        case Supersedes(fact_id=other):
            one, two = sorted((TrustedFact.of(known[other]), said), key=lambda each: each.fact.learned_at)
            past, gone = outdated(one, two, verdict, at=at)
            reason = f"{verdict.reason}; the other was said later"
            late = LinkedTo(fact_id=other, reason=reason, similarity=verdict.similarity)
            shown = late if past is fact else verdict
            return replace(decision, verdict=shown, rows=(*decision.rows, gone), replaced=past)
        case NewFact() | AlreadyKnown():
            return decision


def linked(fact_id: UUID, verdict: LinkedTo, *, at: datetime) -> LinkedRow:
    return LinkedRow(
        fact_id=fact_id,
        other=verdict.fact_id,
        reason=verdict.reason,
        at=at,
        similarity=verdict.similarity,
        kind=verdict.kind,
        likelihood=verdict.likelihood,
    )


def claimed(candidate: CandidateFact, learn_context: LearnContext) -> TrustedFact:
    """Return the fact that *candidate* makes if it is new."""
    at, source = learn_context.said_at, _source(candidate, learn_context)
    fact = Fact(
        id=fact_id(source.episode_id, candidate.text),
        scope=learn_context.scope,
        text=candidate.text.strip(),
        category=candidate.category,
        subject=candidate.subject,
        confidence=candidate.confidence,
        source=source,
        learned_at=learn_context.at,
        event_date=candidate.event_date,
    )
    return TrustedFact(fact, first=at, last=at, trust=candidate.trust)


def _source(candidate: CandidateFact, learn_context: LearnContext) -> Source:
    return replace(learn_context.source, turns=candidate.turns or learn_context.source.turns, trust=candidate.trust)


def announcements(
    cause: Event, decisions: Iterable[FactDecision], *, by: str, at: datetime, waits: bool = False
) -> Iterator[Event]:
    """Yield the events of *decisions*, successors first; one more if any fact *waits*."""
    announced: list[tuple[type[Event], dict[str, Any]]] = [*chain.from_iterable(map(_announced, decisions))]
    for index, (kind, data) in enumerate([*announced, *([(FactsUnembedded, {})] if waits else [])]):
        yield kind.after(cause, by=by, index=index, at=at, **data)


def _announced(decision: FactDecision) -> Iterator[tuple[type[FactEvent], dict[str, Any]]]:
    verdict = decision.verdict
    if decision.has_new_source:
        kind = FactConfirmed if isinstance(verdict, AlreadyKnown) else FactLearned
        yield kind, _payload(decision, decision.fact, verdict)
    if decision.replaced:
        yield FactSuperseded, _payload(decision, decision.replaced, verdict)
    elif isinstance(verdict, LinkedTo):
        yield FactLinked, _payload(decision, decision.fact, verdict)


def _payload(decision: FactDecision, fact: Fact, verdict: Verdict) -> dict[str, Any]:
    """Return the payload; its other fact is the one compared, also if that gave way."""
    others = {decision.fact.id, None if isinstance(verdict, NewFact) else verdict.fact_id} - {fact.id, None}
    return {
        "fact_id": fact.id,
        "text": fact.text,
        "category": str(fact.category),
        "episode_id": decision.source.episode_id,
        "turns": decision.source.turns,
        "verdict": verdict.name,
        "reason": verdict.reason,
        "other_fact_id": next(iter(others), None),
        "similarity": None if isinstance(verdict, NewFact) else verdict.similarity,
    }


def unembedded(kind: type[Waiting], scope: Scope, *, state: str, at: datetime) -> Waiting:
    """Return the event that facts or episodes wait for vectors; the same *state* gives one id."""
    nouns = "" if issubclass(kind, FactsUnembedded) else " episodes"
    event_id = uuid5(NAMESPACE, f"unembedded{nouns}\n{scope}\n{state}")
    return kind(
        id=event_id, time=at, source="nous", scope=scope, agent_id="default", session_id=NO_SESSION, trace_id=event_id
    )
