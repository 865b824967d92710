"""From candidate facts to the rows that record what was made of each. Pure: nothing is read, written or embedded."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from nous.episode import CandidateFact
from nous.fact import Confirmed, Fact, Learned, Row, Source, Superseded
from nous.fact import Linked as LinkedRow
from nous.learning.judge import Known, Linked, New, Richer, Verdict, floor, judge, rewords
from nous.learning.known import Knowledge, KnownFact
from nous.learning.normalise import exact_form
from nous.learning.policy import Policy
from nous.learning.statement import Statement
from nous.learning.vectors import checked
from nous.scope import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_TEXT = 4000
"""Characters in a fact. What is longer is no fact, and would take minutes to compare."""

ALREADY = "already learned from this episode"
RETOLD = "a later edition of the same episode says it so"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What became of a candidate: the verdict, the fact that now says it, and the one this one took the place of.

    `rows` is empty where the candidate added nothing, not even a wording. `has_new_source` is false where an episode
    repeats itself in other words.
    """

    candidate: CandidateFact
    verdict: Verdict
    fact: Fact
    replaced: Fact | None = None
    rows: tuple[Row, ...] = ()
    has_new_source: bool = True

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """Whose memory learns, from what, by which rule, and when."""

    scope: Scope
    source: Source
    policy: Policy
    at: datetime


def usable(candidates: Sequence[CandidateFact], *, cap: int) -> tuple[tuple[CandidateFact, ...], int]:
    """The first *cap* candidates that say something a fact can hold, and how many were cut."""
    fitting = tuple(candidate for candidate in candidates if len(candidate.text) <= LONGEST_TEXT)
    saying = tuple(candidate for candidate in fitting if exact_form(candidate.text))
    return saying[:cap], max(len(saying) - cap, 0) + len(candidates) - len(fitting)


def fact_id(episode_id: UUID, text: str) -> UUID:
    """Name the fact that *episode_id* taught with *text*: the same name however often it is taught."""
    return uuid5(episode_id, exact_form(text))


def learn(
    candidates: Sequence[CandidateFact],
    vectors: "NDArray[np.float32]",
    *,
    knowledge: Knowledge,
    occasion: Occasion,
) -> Learning:
    """Judge each candidate against what is known and what those before it have just taught.

    *vectors* has a unit row for each candidate; *knowledge* is left as it is.

    Raises:
        BadInput: the vectors are not of the knowledge's dimension, or not of length 1.
    """
    checked(vectors, rows=len(candidates), dim=knowledge.dim)
    known = knowledge.branch()
    findings: list[Finding] = []
    taught: dict[UUID, NDArray[np.float32]] = {}
    for candidate, vector in zip(candidates, vectors, strict=True):
        finding = _finding(candidate, vector, known, occasion)
        known.extend(finding.rows, {finding.fact.id: vector})
        taught |= {row.fact.id: vector for row in finding.rows if isinstance(row, Learned)}
        findings.append(finding)
    return Learning(findings=tuple(findings), vectors=taught)


def _finding(candidate: CandidateFact, vector: "NDArray[np.float32]", known: Knowledge, occasion: Occasion) -> Finding:
    statement = Statement(candidate.text)
    said = known.line(statement.form)
    if said and any(fact.was_said_in(occasion.source.episode_id) for fact in said):
        return Finding(candidate=candidate, verdict=Known(fact_id=said[-1].fact.id, reason=ALREADY), fact=said[-1].fact)
    if said:
        return _confirmed(candidate, Known(fact_id=said[-1].fact.id, reason="the same text"), known, occasion)
    neighbours = known.near(vector, floor(occasion.policy))
    match judge(statement, neighbours, occasion.policy):
        case Known() as verdict:
            return _confirmed(candidate, verdict, known, occasion)
        case Linked() as verdict if _is_retold(statement, known[verdict.fact_id], occasion):
            told = Richer(fact_id=verdict.fact_id, reason=RETOLD, similarity=verdict.similarity)
            return _learned(candidate, told, known, occasion)
        case verdict:
            return _learned(candidate, verdict, known, occasion)


def _is_retold(statement: Statement, other: KnownFact, occasion: Occasion) -> bool:
    """Whether an earlier edition of this very episode, and nobody else, has said it in nearly these words."""
    said_by = {(source.episode_id, source.event_id == occasion.source.event_id) for source in other.sources}
    return said_by == {(occasion.source.episode_id, False)} and rewords(statement, other.statement)


def _confirmed(candidate: CandidateFact, verdict: Known, known: Knowledge, occasion: Occasion) -> Finding:
    """The fact that *verdict* names was said again; the wording is kept as evidence, whoever said it."""
    fact = known[verdict.fact_id]
    source = _source(candidate, occasion)
    row = Confirmed(
        fact_id=verdict.fact_id,
        source=source,
        text=candidate.text,
        reason=verdict.reason,
        at=occasion.at,
        similarity=verdict.similarity,
    )
    is_new = not fact.was_said_in(source.episode_id)
    return Finding(candidate=candidate, verdict=verdict, fact=fact.fact, rows=(row,), has_new_source=is_new)


def _learned(candidate: CandidateFact, verdict: New | Richer | Linked, known: Knowledge, occasion: Occasion) -> Finding:
    fact = _new_fact(candidate, occasion)
    learned = Learned(fact=fact, reason=verdict.reason, embedded_by=known.embedder_id)
    match verdict:
        case New():
            return Finding(candidate=candidate, verdict=verdict, fact=fact, rows=(learned,))
        case Linked(fact_id=other, reason=reason, similarity=similarity):
            linked = LinkedRow(fact_id=fact.id, other=other, reason=reason, at=occasion.at, similarity=similarity)
            return Finding(candidate=candidate, verdict=verdict, fact=fact, rows=(learned, linked))
        case Richer(fact_id=other, reason=reason, similarity=similarity):
            gone = Superseded(fact_id=other, by=fact.id, reason=reason, at=occasion.at, similarity=similarity)
            replaced = known[other].fact
            return Finding(candidate=candidate, verdict=verdict, fact=fact, replaced=replaced, rows=(learned, gone))


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
    """The occasion's source, with the turns that the candidate itself rests on where it names any."""
    return replace(occasion.source, turns=candidate.turns or occasion.source.turns)
