"""Judge candidates and late-embedded facts against known facts; return fact-log rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING
from uuid import UUID

from nous.domain.episode import CandidateFact
from nous.domain.fact import Embedded, Learned
from nous.knowledge.decision import (
    FactDecision,
    LearnContext,
    LearnDecisions,
    claimed,
    confirmed,
    fact_id,
    learned,
    with_effect,
)
from nous.knowledge.equivalence.compare import difference
from nous.knowledge.fact_index import FactIndex, KnownFact
from nous.knowledge.judge import (
    ASKED_FROM,
    SAME_SENSE,
    SAME_TEXT,
    AlreadyKnown,
    LinkedTo,
    NewFact,
    Richer,
    Supersedes,
    Verdict,
    floor,
    verdicts,
)
from nous.knowledge.normalize import exact_form
from nous.knowledge.precedence import TrustedFact, corrected, merged, settled
from nous.knowledge.statement import Namesakes, Neighbour, Statement
from nous.knowledge.vector_scan import checked
from nous.knowledge.verdict import Dedup, FactRulings, Policy, UncertainFact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32] | None


ALREADY = "already learned from this episode"
RETOLD = "a later edition of the same episode says it so"
NOT_COMPARED = "no fact has this text; the embedder did not answer, so the sense is compared later"
SAME_TEXT_THEN = "the same text, said before it was superseded"
_CERTAIN = frozenset({ALREADY, SAME_SENSE, SAME_TEXT, SAME_TEXT_THEN})
MOST_ASKED = 8  # maximum neighbors of a candidate that a model is asked about, the nearest


def learn(
    candidates: Sequence[CandidateFact],
    vectors: "Sequence[Vector]",
    *,
    knowledge: FactIndex,
    learn_context: LearnContext,
) -> LearnDecisions:
    """Judge each candidate against the known facts and against the candidates before it.

    A candidate that supersedes several facts has a decision for each.

    *vectors* has a unit vector for each candidate, or None. Without a vector only equal texts are the same, and a new
    fact is compared later (`embed_late`). *knowledge* stays unchanged. Raises `BadInput` if the vectors are not of the
    knowledge's dimension, or not of length 1.
    """
    known = knowledge.fork()
    context = replace(learn_context, stated_forms=frozenset(exact_form(candidate.text) for candidate in candidates))
    for vector in vectors:
        if vector is not None:
            checked(vector[None], rows=1, dim=knowledge.dim)
    decisions: list[FactDecision] = []
    uncertain: list[UncertainFact] = []
    taught: dict[UUID, NDArray[np.float32]] = {}
    for candidate, vector in zip(candidates, vectors, strict=True):
        case = _Case(candidate, vector, known, context)
        decision = case.decision()
        uncertain += case.uncertain(decision)
        fresh = {row.fact.id: vector for row in decision.rows if isinstance(row, Learned) and vector is not None}
        known.extend(decision.rows, fresh)
        taught |= fresh
        decisions += [decision, *_further(decision, vector, known, context.policy, context.at, case.rulings)]
    return LearnDecisions(decisions=tuple(decisions), uncertain=tuple(uncertain), vectors=taught)


def _further(
    decision: FactDecision, vector: "Vector", known: FactIndex, policy: Policy, at: datetime, rulings: FactRulings
) -> Iterator[FactDecision]:
    """Yield decisions on other facts that an update or a ruling supersedes; extend *known*."""
    is_update = isinstance(decision.verdict, Supersedes) or any(said.is_stated for said in rulings.values())
    while is_update and (fact := known[decision.fact.id]).is_current:
        near = [] if vector is None else known.near(vector, floor(policy))
        verdict = corrected(fact, near, known, policy, rulings)
        if verdict is None:
            return
        alone = FactDecision(text=decision.text, source=decision.source, verdict=verdict, fact=fact.fact)
        further = with_effect(alone, TrustedFact.of(fact), known, at=at)
        known.extend(further.rows, {})
        yield further


@dataclass(frozen=True)
class _Case:
    candidate: CandidateFact
    vector: "Vector"
    known: FactIndex
    context: LearnContext

    @cached_property
    def statement(self) -> Statement:
        return Statement(self.candidate.text, self.candidate.subject)

    @cached_property
    def said(self) -> Sequence[KnownFact]:
        return self.known.revisions(self.statement.form)

    @cached_property
    def near(self) -> Sequence[Neighbour]:
        return [] if self.vector is None else self.known.near(self.vector, floor(self.context.policy))

    @cached_property
    def namesakes(self) -> Namesakes:
        return self.known.namesakes(self.candidate.subject)

    @cached_property
    def claim(self) -> TrustedFact:
        return claimed(self.candidate, self.context)

    @property
    def rulings(self) -> FactRulings:
        return self.context.adjudications.get(self.claim.fact.id, {})

    def uncertain(self, decision: FactDecision) -> Iterator[UncertainFact]:
        """Yield the candidate with what it may concern, unless the texts show that it is known."""
        is_certain = isinstance(decision.verdict, AlreadyKnown) and decision.verdict.reason in _CERTAIN
        if is_certain or self.context.policy.dedup is not Dedup.GUARDED:
            return
        near = {each.fact_id: each.similarity for each in self.near if each.similarity >= ASKED_FROM}
        asked = [each for each in (decision.other_id, *islice(near, MOST_ASKED), *self.namesakes) if each]
        known = [(self.known[each], near.get(each, 0.0)) for each in dict.fromkeys(asked)]
        if known:
            yield UncertainFact(self.claim.fact, known, decision.other_id)

    def decision(self) -> FactDecision:
        if self._is_repeated():
            last = self.said[-1].fact
            verdict = AlreadyKnown(fact_id=last.id, reason=ALREADY)
            return FactDecision(text=self.candidate.text, source=self.context.source, verdict=verdict, fact=last)
        match self._by_text() or self._by_sense():
            case AlreadyKnown() as verdict:
                return confirmed(self.candidate, verdict, self.known, self.context)
            case NewFact() | Richer() | Supersedes() | LinkedTo() as verdict:
                embedder = None if self.vector is None else self.known.embedder_id
                return learned(self.candidate, verdict, self.known, self.context, embedder=embedder)

    def _is_repeated(self) -> bool:
        """Return whether this episode taught it already, and is not its first trusted source."""
        is_doubted = len(self.said) == 1 and self.said[0].is_current and self.said[0].trust.is_doubted
        if is_doubted and not self.candidate.trust.is_doubted:
            return False
        episode = self.context.source.episode_id
        is_taught = self.known.get(fact_id(episode, self.candidate.text)) is not None
        return is_taught or any(fact.was_said_in(episode) for fact in self.said)

    def _by_text(self) -> AlreadyKnown | None:
        """Return the verdict on a text that is known word for word, or None.

        It is known as it stands, as the fact that superseded it, or as what was true at the time. A successor that only
        a tool or a page stated does not count against a more trusted source.
        """
        if not self.said:
            return None
        last = self.said[-1]
        holder = last if last.superseded is None else self.known.get(last.superseded.by)
        is_doubted = holder is not None and holder.trust.is_doubted and not self.candidate.trust.is_doubted
        if holder and holder.statement.form != self.statement.form and is_doubted:
            return None
        if last.superseded is None:
            return AlreadyKnown(fact_id=last.fact.id, reason=SAME_TEXT)
        is_past = holder is not None and self.context.said_at <= holder.said_at
        return AlreadyKnown(fact_id=last.fact.id, reason=SAME_TEXT_THEN) if is_past else None

    def _by_sense(self) -> Verdict:
        known, claim, policy = self.known, self.claim, self.context.policy
        is_later, rulings = known.is_later(claim.last), self.rulings
        found = verdicts(self.statement, self.near, policy, self.namesakes, is_later=is_later, rulings=rulings)
        match settled(found, claim, known):
            case NewFact() if self.vector is None:
                return NewFact(reason=NOT_COMPARED)
            case LinkedTo() as verdict if self._is_retold(known[verdict.fact_id]):
                richer = Richer(fact_id=verdict.fact_id, reason=RETOLD, similarity=verdict.similarity)
                return settled([richer], claim, known)
            case verdict:
                return verdict

    def _is_retold(self, other: KnownFact) -> bool:
        """Return whether this edition of an episode rewords what only an earlier edition stated."""
        if not self.context.stated_forms.isdisjoint({other.statement.form, *map(exact_form, other.said_as)}):
            return False
        mine = self.context.source
        said_by = {(source.episode_id, source.event_id == mine.event_id) for source in other.sources}
        found = difference(self.statement.reading, other.statement.reading)
        return said_by == {(mine.episode_id, False)} and not (found.objection or found.only_right)


def embed_late(
    embedded: "Sequence[tuple[KnownFact, NDArray[np.float32]]]", *, knowledge: FactIndex, policy: Policy, at: datetime
) -> LearnDecisions:
    """Judge each fact of *embedded* by its new vector against all facts that have one.

    Of any two facts of a scope, the one that gets its vector later is compared with the other. So once all have a
    vector, no two remain that learning would have merged. Raises `BadInput` if a vector is not of the knowledge's
    dimension, or not of length 1.
    """
    known = knowledge.fork()
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
        found = verdicts(fact.statement, near, policy, namesakes, is_later=known.is_later(fact.said_at))
        verdict = settled(found, TrustedFact.of(fact), known)
        decision = _embedded(fact, verdict, known, at)
        fresh = {row.fact_id: vector for row in decision.rows if isinstance(row, Embedded)}
        known.extend(decision.rows, fresh)
        kept |= fresh
        decisions += [decision, *_further(decision, vector, known, policy, at, {})]
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
