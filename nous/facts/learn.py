"""From candidate facts to the rows that record what was made of each. Pure: nothing is read, written or embedded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from nous.domain.episode import CandidateFact, Trust
from nous.domain.fact import Embedded, Fact, Learned, Row, Superseded
from nous.facts.adjudication import Doubt, ruled
from nous.facts.decision import Finding, Learning, Occasion, confirmed, correcting, fact_id, learned, linked
from nous.facts.fact_index import Knowledge, KnownFact
from nous.facts.judge import SAME_TEXT, Known, Linked, New, Richer, Supersedes, Verdict, floor, rewords, verdicts
from nous.facts.normalize import exact_form
from nous.facts.precedence import Claim, Said, corrected, is_vouched_for, outdated, settled
from nous.facts.settling import merged
from nous.facts.vector_scan import checked
from nous.facts.verdict import Policy, Statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32] | None


ALREADY = "already learned from this episode"
RETOLD = "a later edition of the same episode says it so"
NOT_COMPARED = "no fact has this text; the embedder did not answer, so the sense is compared later"
NOT_ALL_COMPARED = "nothing is near of what could be compared; the facts without a vector are compared later"
SAME_TEXT_THEN = "the same text, said before it was superseded"


def learn(
    candidates: Sequence[CandidateFact],
    vectors: "Sequence[Vector]",
    *,
    knowledge: Knowledge,
    occasion: Occasion,
) -> Learning:
    """Judge each candidate against what is known and what those before it have just taught.

    *vectors* has a unit vector for each candidate, or None: then only equal texts are the same, and what is new has to
    be compared later (`nous.facts.learn`). *knowledge* is left as it is.

    Raises:
        BadInput: the vectors are not of the knowledge's dimension, or not of length 1.
    """
    for vector in vectors:
        if vector is not None:
            checked(vector[None, :], rows=1, dim=knowledge.dim)
    known = knowledge.branch()
    known.foresee(tuple(_unheard(candidates, vectors, known)), floor(occasion.policy))
    occasion = replace(occasion, told=frozenset(exact_form(candidate.text) for candidate in candidates))
    findings: list[Finding] = []
    taught: dict[UUID, NDArray[np.float32]] = {}
    for candidate, vector in zip(candidates, vectors, strict=True):
        finding = _finding(candidate, vector, known, occasion)
        fresh = {row.fact.id: vector for row in finding.rows if isinstance(row, Learned) and vector is not None}
        known.extend(finding.rows, fresh)
        taught |= fresh
        findings.append(finding)
    return Learning(findings=tuple(findings), vectors=taught)


def _unheard(
    candidates: Sequence[CandidateFact], vectors: "Sequence[Vector]", known: Knowledge
) -> "Iterator[NDArray[np.float32]]":
    """The vectors of candidates that cannot be judged by their text alone."""
    for candidate, vector in zip(candidates, vectors, strict=True):
        if vector is not None and not known.line(exact_form(candidate.text)):
            yield vector


def doubts(learning: Learning, known: Knowledge) -> Iterator[Doubt]:
    """What somebody who understands the texts may still decide of *learning*, judged against *known*."""
    taught = {finding.fact.id: finding.fact for finding in learning.findings}
    for finding in learning.findings:
        verdict = finding.verdict
        if isinstance(verdict, Linked) and verdict.is_open:
            other = known.get(verdict.fact_id)
            text = other.fact.text if other else taught[verdict.fact_id].text
            yield Doubt(exact_form(finding.candidate.text), verdict.fact_id, finding.candidate.text, text)


def _finding(candidate: CandidateFact, vector: "Vector", known: Knowledge, occasion: Occasion) -> Finding:
    statement = Statement(candidate.text, candidate.subject)
    said = known.line(statement.form)
    if _is_heard(candidate, said, known, occasion):
        last = said[-1].fact
        return Finding(candidate=candidate, verdict=Known(fact_id=last.id, reason=ALREADY), fact=last)
    by_text = _by_text(statement, said, candidate.trust, known, occasion)
    match by_text or _by_sense(statement, candidate, vector, known, occasion):
        case Known() as verdict:
            return _vouched(confirmed(candidate, verdict, known, occasion), vector, known, occasion)
        case New() | Richer() | Supersedes() | Linked() as verdict:
            embedder = None if vector is None else known.embedder_id
            return learned(candidate, verdict, known, occasion, embedder=embedder)


def _vouched(finding: Finding, vector: "Vector", known: Knowledge, occasion: Occasion) -> Finding:
    """*finding*, with what its fact corrects if nobody but a tool or a page had said that before."""
    candidate, fact, policy = finding.candidate, known[finding.fact.id], occasion.policy
    if not is_vouched_for(fact, candidate.trust):
        return finding
    subject = candidate.subject or fact.fact.subject
    claim = Claim(subject=subject, trust=candidate.trust, said_at=occasion.said_at)
    near = [] if vector is None else known.near(vector, floor(policy))
    verdict = corrected(fact, claim, near, known, policy)
    return correcting(finding, verdict, known[verdict.fact_id], occasion) if verdict else finding


def _by_sense(
    statement: Statement, candidate: CandidateFact, vector: "Vector", known: Knowledge, occasion: Occasion
) -> Verdict:
    policy = occasion.policy
    claim = Claim(subject=candidate.subject, trust=candidate.trust, said_at=occasion.said_at)
    near = [] if vector is None else known.near(vector, floor(policy))
    match settled(verdicts(statement, near, policy, known.namesakes(claim.subject)), claim, known):
        case New() as verdict:
            return _with_gaps(verdict, vector, known)
        case Linked() as verdict if _is_retold(statement, known[verdict.fact_id], occasion):
            richer = Richer(fact_id=verdict.fact_id, reason=RETOLD, similarity=verdict.similarity)
            return settled([richer], claim, known)
        case Linked(is_open=True) as verdict if ruling := occasion.rulings.get((statement.form, verdict.fact_id)):
            return settled([ruled(verdict, ruling)], claim, known, is_ruled=True)
        case verdict:
            return verdict


def _with_gaps(verdict: New, vector: "Vector", known: Knowledge) -> New:
    """*verdict*, which says so where not everything was compared."""
    if vector is None:
        return New(reason=NOT_COMPARED)
    return verdict if next(known.without_vector(), None) is None else New(reason=NOT_ALL_COMPARED)


def _is_heard(candidate: CandidateFact, said: Sequence[KnownFact], known: Knowledge, occasion: Occasion) -> bool:
    """Whether this episode has taught that already, or the line *said*, and nobody better says it now."""
    if len(said) == 1 and is_vouched_for(said[0], candidate.trust):
        return False
    episode = occasion.source.episode_id
    is_taught = known.get(fact_id(episode, candidate.text)) is not None
    return is_taught or any(fact.was_said_in(episode) for fact in said)


def _by_text(
    statement: Statement, said: Sequence[KnownFact], trust: Trust, known: Knowledge, occasion: Occasion
) -> Known | None:
    """Whether the very words are known: as they are, as what has superseded them, or as what was true at the time.

    What only a tool or a page has put in their place does not count against somebody better.
    """
    if not said:
        return None
    last = said[-1]
    holder = last if last.superseded is None else known.get(last.superseded.by)
    if holder and holder.statement.form != statement.form and holder.trust.is_doubted and not trust.is_doubted:
        return None
    if last.superseded is None:
        return Known(fact_id=last.fact.id, reason=SAME_TEXT)
    is_past = holder is not None and occasion.said_at <= holder.said_at
    return Known(fact_id=last.fact.id, reason=SAME_TEXT_THEN) if is_past else None


def _is_retold(statement: Statement, other: KnownFact, occasion: Occasion) -> bool:
    """Whether an earlier edition of this episode, and nobody else, has said it, and this one says it so instead."""
    if not occasion.told.isdisjoint({other.statement.form, *map(exact_form, other.said_as)}):
        return False
    said_by = {(source.episode_id, source.event_id == occasion.source.event_id) for source in other.sources}
    return said_by == {(occasion.source.episode_id, False)} and rewords(statement, other.statement)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """A fact that was judged again: the verdict, and which fact gave way to which, if one did."""

    fact: Fact
    verdict: Verdict
    rows: tuple[Row, ...]
    replaced: Fact | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """What became of each fact that was current still, in order, and the vectors of those that stay."""

    mended: tuple[Mended, ...]
    vectors: "dict[UUID, NDArray[np.float32]]" = field(default_factory=dict)

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for each in self.mended for row in each.rows)


def mend(
    embedded: "Sequence[tuple[KnownFact, NDArray[np.float32]]]",
    *,
    knowledge: Knowledge,
    policy: Policy,
    at: datetime,
) -> Mending:
    """Judge each fact of *embedded*, which has no vector in *knowledge* yet, by this one against all that have one.

    So of any two facts of a scope, the one that gets its vector later is compared with the other: once all have one, no
    two say the same that would not have been learned as one.

    Raises:
        BadInput: a vector is not of the knowledge's dimension, or not of length 1.
    """
    known = knowledge.branch()
    known.foresee([vector for _, vector in embedded], floor(policy))
    mended: list[Mended] = []
    kept: dict[UUID, NDArray[np.float32]] = {}
    for waiting, vector in embedded:
        checked(vector[None, :], rows=1, dim=knowledge.dim)
        fact = known[waiting.fact.id]
        if not fact.is_current:
            continue  # one that was mended before it has taken its place
        apart = known.apart_from(fact.fact.id)
        near = [each for each in known.near(vector, floor(policy)) if each.fact_id not in apart]
        namesakes = {each: said for each, said in known.namesakes(fact.fact.subject).items() if each not in apart}
        verdict = settled(verdicts(fact.statement, near, policy, namesakes), Claim.of(fact), known)
        each = _mended(fact, verdict, known, at)
        fresh = {row.fact_id: vector for row in each.rows if isinstance(row, Embedded)}
        known.extend(each.rows, fresh)
        kept |= fresh
        mended.append(each)
    return Mending(mended=tuple(mended), vectors=kept)


def _mended(fact: KnownFact, verdict: Verdict, known: Knowledge, at: datetime) -> Mended:
    embedded = Embedded(fact_id=fact.fact.id, embedded_by=known.embedder_id)
    match verdict:
        case New():
            return Mended(fact=fact.fact, verdict=verdict, rows=(embedded,))
        case Known():
            into = known[verdict.fact_id]
            rows = tuple(merged(fact, into, reason=verdict.reason, at=at, similarity=verdict.similarity))
            return Mended(fact=fact.fact, verdict=verdict, rows=rows, replaced=fact.fact)
        case Richer(fact_id=other):
            gone = Superseded(
                fact_id=other, by=fact.fact.id, reason=verdict.reason, at=at, similarity=verdict.similarity
            )
            return Mended(fact=fact.fact, verdict=verdict, rows=(embedded, gone), replaced=known[other].fact)
        case Supersedes():
            before, after = sorted((fact, known[verdict.fact_id]), key=lambda each: each.fact.learned_at)
            past, gone = outdated(Said.of(before), Said.of(after), verdict, at=at)
            return Mended(fact=fact.fact, verdict=verdict, rows=(embedded, gone), replaced=past)
        case Linked(fact_id=other):
            rows = (embedded, *_linked(fact, other, verdict, at))
            return Mended(fact=fact.fact, verdict=verdict, rows=rows)


def _linked(fact: KnownFact, other: UUID, verdict: Linked, at: datetime) -> Iterator[Row]:
    """The link, where the two have none yet."""
    if other not in fact.standing_links:
        yield linked(fact.fact.id, verdict, at=at)


def merged_into(each: Mended) -> UUID | None:
    """The fact that says now what *each* said; None where it stays."""
    return each.verdict.fact_id if isinstance(each.verdict, Known) else None
