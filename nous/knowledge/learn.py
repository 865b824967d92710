"""Decide on candidate facts and build the log rows. Pure: no I/O and no embedding."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from nous.domain.episode import CandidateFact, Trust
from nous.domain.fact import Embedded, Learned
from nous.knowledge.adjudication import AmbiguousPair, ruled
from nous.knowledge.decision import (
    FactDecision,
    LearnContext,
    LearnDecisions,
    confirmed,
    correcting,
    fact_id,
    learned,
    with_effect,
)
from nous.knowledge.fact_index import FactIndex, KnownFact
from nous.knowledge.judge import (
    SAME_TEXT,
    AlreadyKnown,
    LinkedTo,
    NewFact,
    Richer,
    Supersedes,
    Verdict,
    floor,
    rewords,
    verdicts,
)
from nous.knowledge.normalize import exact_form
from nous.knowledge.precedence import SourcedStatement, TrustedFact, corrected, is_vouched_for, settled
from nous.knowledge.settling import merged
from nous.knowledge.vector_scan import checked
from nous.knowledge.verdict import Policy, Statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32] | None


ALREADY = "already learned from this episode"
RETOLD = "a later edition of the same episode says it so"
NOT_COMPARED = "no fact has this text; the embedder did not answer, so the sense is compared later"
SAME_TEXT_THEN = "the same text, said before it was superseded"


def learn(
    candidates: Sequence[CandidateFact],
    vectors: "Sequence[Vector]",
    *,
    knowledge: FactIndex,
    learn_context: LearnContext,
) -> LearnDecisions:
    """Judge each candidate against the known facts and against the candidates before it.

    *vectors* has a unit vector for each candidate, or None. Without a vector only equal texts are the same, and a new
    fact is compared later (`embed_late`). *knowledge* stays unchanged.

    Raises:
        BadInput: the vectors are not of the knowledge's dimension, or not of length 1.
    """
    for vector in vectors:
        if vector is not None:
            checked(vector[None, :], rows=1, dim=knowledge.dim)
    known = knowledge.fork()
    known.prefetch_neighbors(tuple(_vectors_to_compare(candidates, vectors, known)), floor(learn_context.policy))
    learn_context = replace(
        learn_context, stated_forms=frozenset(exact_form(candidate.text) for candidate in candidates)
    )
    fact_decisions: list[FactDecision] = []
    taught: dict[UUID, NDArray[np.float32]] = {}
    for candidate, vector in zip(candidates, vectors, strict=True):
        fact_decision = _decide(candidate, vector, known, learn_context)
        fresh = {row.fact.id: vector for row in fact_decision.rows if isinstance(row, Learned) and vector is not None}
        known.extend(fact_decision.rows, fresh)
        taught |= fresh
        fact_decisions.append(fact_decision)
    return LearnDecisions(decisions=tuple(fact_decisions), vectors=taught)


def _vectors_to_compare(
    candidates: Sequence[CandidateFact], vectors: "Sequence[Vector]", known: FactIndex
) -> "Iterator[NDArray[np.float32]]":
    for candidate, vector in zip(candidates, vectors, strict=True):
        if vector is not None and not known.revisions(exact_form(candidate.text)):
            yield vector


def ambiguous_pairs(learning: LearnDecisions, known: FactIndex) -> Iterator[AmbiguousPair]:
    """Yield the pairs that an adjudicator may decide; *learning* was judged against *known*."""
    taught = {decision.fact.id: decision.fact for decision in learning.decisions}
    for decision in learning.decisions:
        verdict = decision.verdict
        if isinstance(verdict, LinkedTo) and verdict.is_open:
            other = known.get(verdict.fact_id)
            text = other.fact.text if other else taught[verdict.fact_id].text
            yield AmbiguousPair(exact_form(decision.text), verdict.fact_id, decision.text, text)


def _decide(candidate: CandidateFact, vector: "Vector", known: FactIndex, learn_context: LearnContext) -> FactDecision:
    statement = Statement(candidate.text, candidate.subject)
    said = known.revisions(statement.form)
    if _is_repeated(candidate, said, known, learn_context):
        last = said[-1].fact
        verdict = AlreadyKnown(fact_id=last.id, reason=ALREADY)
        return FactDecision(text=candidate.text, source=learn_context.source, verdict=verdict, fact=last)
    by_text = _by_text(statement, said, candidate.trust, known, learn_context)
    match by_text or _by_sense(statement, candidate, vector, known, learn_context):
        case AlreadyKnown() as verdict:
            decision = confirmed(candidate, verdict, known, learn_context)
            return _with_correction(decision, candidate, vector, known, learn_context)
        case NewFact() | Richer() | Supersedes() | LinkedTo() as verdict:
            embedder = None if vector is None else known.embedder_id
            return learned(candidate, verdict, known, learn_context, embedder=embedder)


def _with_correction(
    decision: FactDecision,
    candidate: CandidateFact,
    vector: "Vector",
    known: FactIndex,
    learn_context: LearnContext,
) -> FactDecision:
    """Add the correction that the first trusted source of a doubted fact makes possible."""
    fact, policy = known[decision.fact.id], learn_context.policy
    if not is_vouched_for(fact, candidate.trust):
        return decision
    subject = candidate.subject or fact.fact.subject
    claim = SourcedStatement(subject=subject, trust=candidate.trust, said_at=learn_context.said_at)
    near = [] if vector is None else known.near(vector, floor(policy))
    verdict = corrected(fact, claim, near, known, policy)
    return correcting(decision, verdict, known[verdict.fact_id], learn_context) if verdict else decision


def _by_sense(
    statement: Statement, candidate: CandidateFact, vector: "Vector", known: FactIndex, learn_context: LearnContext
) -> Verdict:
    policy = learn_context.policy
    claim = SourcedStatement(subject=candidate.subject, trust=candidate.trust, said_at=learn_context.said_at)
    near = [] if vector is None else known.near(vector, floor(policy))
    match settled(verdicts(statement, near, policy, known.namesakes(claim.subject)), claim, known):
        case NewFact() if vector is None:
            return NewFact(reason=NOT_COMPARED)
        case LinkedTo() as verdict if _is_retold(statement, known[verdict.fact_id], learn_context):
            richer = Richer(fact_id=verdict.fact_id, reason=RETOLD, similarity=verdict.similarity)
            return settled([richer], claim, known)
        case LinkedTo(is_open=True) as verdict if adjudication := learn_context.adjudications.get(
            (statement.form, verdict.fact_id)
        ):
            return settled([ruled(verdict, adjudication)], claim, known, is_ruled=True)
        case verdict:
            return verdict


def _is_repeated(
    candidate: CandidateFact, said: Sequence[KnownFact], known: FactIndex, learn_context: LearnContext
) -> bool:
    """Return whether this episode taught it already, and is not its first trusted source."""
    if len(said) == 1 and is_vouched_for(said[0], candidate.trust):
        return False
    episode = learn_context.source.episode_id
    is_taught = known.get(fact_id(episode, candidate.text)) is not None
    return is_taught or any(fact.was_said_in(episode) for fact in said)


def _by_text(
    statement: Statement, said: Sequence[KnownFact], trust: Trust, known: FactIndex, learn_context: LearnContext
) -> AlreadyKnown | None:
    """Return the verdict on a text that is known word for word, or None.

    It is known as it stands, as the fact that superseded it, or as what was true at the time. A successor that only a
    tool or a page stated does not count against a more trusted source.
    """
    if not said:
        return None
    last = said[-1]
    holder = last if last.superseded is None else known.get(last.superseded.by)
    if holder and holder.statement.form != statement.form and holder.trust.is_doubted and not trust.is_doubted:
        return None
    if last.superseded is None:
        return AlreadyKnown(fact_id=last.fact.id, reason=SAME_TEXT)
    is_past = holder is not None and learn_context.said_at <= holder.said_at
    return AlreadyKnown(fact_id=last.fact.id, reason=SAME_TEXT_THEN) if is_past else None


def _is_retold(statement: Statement, other: KnownFact, learn_context: LearnContext) -> bool:
    """Return whether this edition of an episode rewords what only an earlier edition stated."""
    if not learn_context.stated_forms.isdisjoint({other.statement.form, *map(exact_form, other.said_as)}):
        return False
    said_by = {(source.episode_id, source.event_id == learn_context.source.event_id) for source in other.sources}
    return said_by == {(learn_context.source.episode_id, False)} and rewords(statement, other.statement)


def embed_late(
    embedded: "Sequence[tuple[KnownFact, NDArray[np.float32]]]",
    *,
    knowledge: FactIndex,
    policy: Policy,
    at: datetime,
) -> LearnDecisions:
    """Judge each fact of *embedded* by its new vector against all facts that have one.

    Of any two facts of a scope, the one that gets its vector later is compared with the other. So once all have a
    vector, no two remain that learning would have merged.

    Raises:
        BadInput: a vector is not of the knowledge's dimension, or not of length 1.
    """
    known = knowledge.fork()
    known.prefetch_neighbors([vector for _, vector in embedded], floor(policy))
    decisions: list[FactDecision] = []
    kept: dict[UUID, NDArray[np.float32]] = {}
    for waiting, vector in embedded:
        checked(vector[None, :], rows=1, dim=knowledge.dim)
        fact = known[waiting.fact.id]
        if not fact.is_current:
            continue  # superseded by a fact before it in this loop
        apart = known.apart_from(fact.fact.id)
        near = [each for each in known.near(vector, floor(policy)) if each.fact_id not in apart]
        namesakes = {each: said for each, said in known.namesakes(fact.fact.subject).items() if each not in apart}
        verdict = settled(verdicts(fact.statement, near, policy, namesakes), SourcedStatement.of(fact), known)
        decision = _embedded(fact, verdict, known, at)
        fresh = {row.fact_id: vector for row in decision.rows if isinstance(row, Embedded)}
        known.extend(decision.rows, fresh)
        kept |= fresh
        decisions.append(decision)
    return LearnDecisions(decisions=tuple(decisions), vectors=kept)


def _embedded(known_fact: KnownFact, verdict: Verdict, known: FactIndex, at: datetime) -> FactDecision:
    fact = known_fact.fact
    embedded = Embedded(fact_id=fact.id, embedded_by=known.embedder_id)
    decision = FactDecision(text=fact.text, source=fact.source, verdict=verdict, fact=fact, rows=(embedded,))
    match verdict:
        case AlreadyKnown(reason=reason, similarity=similarity):
            rows = tuple(merged(known_fact, known[verdict.fact_id], reason=reason, at=at, similarity=similarity))
            return replace(decision, rows=rows, replaced=fact)
        case LinkedTo(fact_id=other) if other in known_fact.standing_links:
            return decision
        case _:
            return with_effect(decision, TrustedFact.of(known_fact), known, at=at)
