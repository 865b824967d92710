"""What became of a candidate, and the rows that record it."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from nous.domain.episode import CandidateFact
from nous.domain.fact import Confirmed, Fact, Learned, Row, Source, Superseded
from nous.domain.fact import Linked as LinkedRow
from nous.domain.scope import Scope
from nous.facts.adjudication import Rulings
from nous.facts.fact_index import Knowledge, KnownFact
from nous.facts.judge import Known, Linked, New, Richer, Supersedes, Verdict
from nous.facts.normalize import exact_form
from nous.facts.precedence import Said, outdated
from nous.facts.verdict import Policy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """Whose memory learns, from what, by which rule, and when; and what was ruled where the rule left it open.

    `told` are the exact forms of all that is said on it.
    """

    scope: Scope
    source: Source
    policy: Policy
    at: datetime
    rulings: Rulings = field(default_factory=dict)
    told: frozenset[str] = frozenset()

    @property
    def said_at(self) -> datetime:
        return self.source.said_at or self.at


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What became of a candidate: the verdict, the fact that now says it, and the one that is no longer current.

    `rows` is empty where the candidate added nothing, not even a wording. `has_new_source` is false where an episode
    repeats itself in other words. `correction` is what a known fact contradicts, now that somebody better says it.
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
        """The known fact that the verdict names."""
        return None if isinstance(self.verdict, New) else self.verdict.fact_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """A finding for each candidate, in order, and the vectors of the facts that are new."""

    findings: tuple[Finding, ...]
    vectors: "dict[UUID, NDArray[np.float32]]" = field(default_factory=dict)

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for finding in self.findings for row in finding.rows)


def fact_id(episode_id: UUID, text: str) -> UUID:
    """Name the fact that *episode_id* taught with *text*: the same name however often it is taught."""
    return uuid5(episode_id, exact_form(text))


def confirmed(candidate: CandidateFact, verdict: Known, known: Knowledge, occasion: Occasion) -> Finding:
    """The fact that *verdict* names was said again; the wording is kept as evidence, whoever said it."""
    fact = known[verdict.fact_id]
    source = _source(candidate, occasion)
    line = known.line(exact_form(candidate.text))
    row = Confirmed(
        fact_id=verdict.fact_id,
        source=source,
        text=candidate.text,
        reason=verdict.reason,
        at=occasion.at,
        similarity=verdict.similarity,
        merged_from=line[0].fact.id if line[1:] and line[-1].fact.id == verdict.fact_id else None,
    )
    is_new = not fact.was_said_in(source.episode_id)
    return Finding(candidate=candidate, verdict=verdict, fact=fact.fact, rows=(row,), has_new_source=is_new)


def learned(
    candidate: CandidateFact,
    verdict: New | Richer | Supersedes | Linked,
    known: Knowledge,
    occasion: Occasion,
    *,
    embedder: str | None,
) -> Finding:
    """A fact of its own, with a vector by *embedder*, and what *verdict* makes of the known one that it names."""
    fact = _new_fact(candidate, occasion)
    new = Learned(fact=fact, reason=verdict.reason, embedded_by=embedder)
    match verdict:
        case New():
            return Finding(candidate=candidate, verdict=verdict, fact=fact, rows=(new,))
        case Linked():
            link = linked(fact.id, verdict, at=occasion.at)
            return Finding(candidate=candidate, verdict=verdict, fact=fact, rows=(new, link))
        case Richer(fact_id=other, reason=reason, similarity=similarity):
            gone = Superseded(fact_id=other, by=fact.id, reason=reason, at=occasion.at, similarity=similarity)
            return Finding(
                candidate=candidate, verdict=verdict, fact=fact, replaced=known[other].fact, rows=(new, gone)
            )
        case Supersedes():
            return _contradicting(candidate, verdict, fact, known[verdict.fact_id], occasion, new)


def correcting(finding: Finding, verdict: Supersedes, other: KnownFact, occasion: Occasion) -> Finding:
    """*finding*, and that its fact, or the *other*, is the past: whichever was said earlier."""
    past, gone = outdated(Said.of(other), _said(finding.fact, finding.candidate, occasion), verdict, at=occasion.at)
    return replace(finding, rows=(*finding.rows, gone), replaced=past, correction=verdict)


def _contradicting(
    candidate: CandidateFact, verdict: Supersedes, fact: Fact, other: KnownFact, occasion: Occasion, new: Learned
) -> Finding:
    """Of *fact* and *other*, which cannot both be true, the one that was said later is current."""
    past, gone = outdated(Said.of(other), _said(fact, candidate, occasion), verdict, at=occasion.at)
    reason = f"{verdict.reason}; the other was said later"
    late = Linked(fact_id=verdict.fact_id, reason=reason, similarity=verdict.similarity)
    told = late if past is fact else verdict
    return Finding(candidate=candidate, verdict=told, fact=fact, replaced=past, rows=(new, gone))


def linked(fact_id: UUID, verdict: Linked, *, at: datetime) -> LinkedRow:
    """The row that links a fact to the one that *verdict* names."""
    return LinkedRow(
        fact_id=fact_id,
        other=verdict.fact_id,
        reason=verdict.reason,
        at=at,
        similarity=verdict.similarity,
        kind=verdict.kind,
        likelihood=verdict.likelihood,
    )


def _said(fact: Fact, candidate: CandidateFact, occasion: Occasion) -> Said:
    return Said(fact, first=occasion.said_at, last=occasion.said_at, trust=candidate.trust)


def _new_fact(candidate: CandidateFact, occasion: Occasion) -> Fact:
    return Fact(
        id=fact_id(occasion.source.episode_id, candidate.text),
        scope=occasion.scope,
        text=candidate.text.strip(),
        category=candidate.category,
        subject=candidate.subject,
        confidence=candidate.confidence,
        source=_source(candidate, occasion),
        learned_at=occasion.at,
        event_date=candidate.event_date,
    )


def _source(candidate: CandidateFact, occasion: Occasion) -> Source:
    """The occasion's source, with whose words the candidate is, and the turns it rests on where it names any."""
    return replace(occasion.source, turns=candidate.turns or occasion.source.turns, trust=candidate.trust)
