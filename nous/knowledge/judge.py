"""Judge a candidate fact against given near facts: yield verdicts (new, same, update, link).

Verdicts in their order:

- The candidate has the text of a known fact: already known.
- A near fact has equal content: already known.
- A model says how the candidate stands to a known fact: already known, or that fact is superseded.
- The candidate certainly updates a known fact: that fact is superseded.
- A near fact says the same and more: already known. One that says the same and less: superseded. A classifier may find
  the same in other words, if no detail objects.
- A near fact may say the same or may be updated: both are kept and linked.
- No fact is near: new.

The texts do not show which of two contradicting facts is newer: `nous.knowledge.learn` passes that. Nor do they show
whether one may supersede the other: `nous.knowledge.precedence` picks from the verdicts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from uuid import UUID

from nous.domain.fact import LinkKind
from nous.knowledge.equivalence.compare import Difference, difference, has_literal, likelihood, texts, vetoed
from nous.knowledge.equivalence.update import Update, update
from nous.knowledge.statement import MOST_CONTRADICTED, IsLater, Namesakes, Neighbour, Statement
from nous.knowledge.verdict import (
    Adjudication,
    AlreadyKnown,
    Dedup,
    FactRulings,
    LinkedTo,
    NewFact,
    Policy,
    Relation,
    Richer,
    Supersedes,
    Verdict,
)

SAME_TEXT = "the same text"
SAME_SENSE = "the same in other words"
_OPEN = "their words do not show whether they say the same"

MOST_COMPARED = 20_000
"""Characters of neighbors that are compared word by word, the nearest: hundreds of facts, or a few long ones.

This bounds how long a scope is busy. A duplicate behind so many unrelated facts with its very numbers is missed.
"""

ASKED_FROM = 0.45  # minimum cosine of a known fact that a model is asked about
LOOKED_AT_FROM = 0.50  # minimum cosine of a known fact that may be updated, with a calibrated embedder
OFFERED_FROM = 0.60  # minimum cosine of a possible duplicate
OFFERED = 0.27  # minimum likelihood of a possible duplicate
REWORDED = 0.60  # minimum likelihood of a paraphrase that is merged, if no detail objects and both texts are long
RATHER_MORE = 0.8  # ratio of the two containments below which one text counts as saying more than the other
LONG = 5  # minimum content words that two paraphrases share. In shorter texts a single word may change the meaning


def judge(statement: Statement, neighbours: Sequence[Neighbour], policy: Policy) -> Verdict:
    return next(verdicts(statement, neighbours, policy))


def verdicts(
    statement: Statement,
    neighbours: Sequence[Neighbour],
    policy: Policy,
    namesakes: Namesakes = MappingProxyType({}),
    *,
    is_later: IsLater = lambda _: False,
    rulings: FactRulings = MappingProxyType({}),
) -> Iterator[Verdict]:
    """Yield possible verdicts on *statement*, best first.

    *neighbours* are the current facts near it, nearest first; *namesakes* are those with its subject. *is_later* says
    which facts were stated after it: these may update it. *rulings* are a model's, by known fact. The last verdict is
    `NewFact` or `LinkedTo`, except for equal texts and for the policy that compares cosines alone.
    """
    equal = next((near for near in neighbours if near.statement.form == statement.form), None)
    if equal:
        yield AlreadyKnown(fact_id=equal.fact_id, reason=SAME_TEXT, similarity=equal.similarity)
        return
    match policy.dedup:
        case Dedup.EXACT:
            yield NewFact()
        case Dedup.COSINE:
            yield _by_cosine(neighbours, policy)
        case Dedup.GUARDED:
            every = {each: _Pair(statement, each, other, None) for each, other in namesakes.items()}
            wanted = (near for near in neighbours if near.fact_id in every or near.fact_id in rulings)
            every |= {near.fact_id: _Pair(statement, near.fact_id, near.statement, near.similarity) for near in wanted}
            found = _guarded(statement, neighbours, policy, [every[each] for each in namesakes], is_later)
            ruled = [_ruled(every[each], said) for each, said in rulings.items() if each in every]
            yield from _adjudicated(list(found), ruled, rulings) if ruled else found


def floor(policy: Policy) -> float:
    """Return the cosine below which a neighbor cannot affect `verdicts`."""
    return min(_compared_from(policy), ASKED_FROM) if policy.dedup is Dedup.GUARDED else policy.threshold


def _compared_from(policy: Policy) -> float:
    return min(policy.near, policy.equal, policy.near if policy.one_sided is None else LOOKED_AT_FROM)


def _by_cosine(neighbours: Sequence[Neighbour], policy: Policy) -> Verdict:
    nearest = neighbours[0] if neighbours else None
    if nearest is None or nearest.similarity <= policy.threshold:
        return NewFact()
    return AlreadyKnown(
        fact_id=nearest.fact_id, reason=f"cosine above {policy.threshold}", similarity=nearest.similarity
    )


@dataclass(frozen=True)
class _Pair:
    """The candidate and a known fact; `similarity` is None if no cosine is known."""

    statement: Statement
    fact_id: UUID
    other: Statement
    similarity: float | None

    @cached_property
    def found(self) -> Difference:
        return difference(self.statement.reading, self.other.reading)

    def update(self, *, is_later: bool) -> Update | None:
        """Return the change that the later one makes to the other; *is_later* if it is `other`."""
        one, other = self.statement, self.other
        if is_later:
            return update(difference(other.reading, one.reading), subject=other.subject, other_subject=one.subject)
        return update(self.found, subject=one.subject, other_subject=other.subject)


def _guarded(
    statement: Statement, neighbours: Sequence[Neighbour], policy: Policy, namesakes: Sequence[_Pair], is_later: IsLater
) -> Iterator[Verdict]:
    pairs = list(_compared(statement, neighbours, policy))
    equal = [pair for pair in pairs if pair.found.is_equal and (pair.similarity or 0) >= min(policy.near, policy.equal)]
    yield from (AlreadyKnown(fact_id=pair.fact_id, reason=SAME_SENSE, similarity=pair.similarity) for pair in equal)
    nearest = {pair.fact_id for pair in pairs[:MOST_CONTRADICTED]}
    named = [pair for pair in namesakes if pair.fact_id not in nearest]
    updates = [
        (pair, found)
        for pair in (*pairs[:MOST_CONTRADICTED], *named)
        if (found := pair.update(is_later=is_later(pair.fact_id)))
    ]
    for pair, found in updates:
        if found.is_sure:
            how = found.is_announced
            yield Supersedes(fact_id=pair.fact_id, reason=found.reason, similarity=pair.similarity, is_announced=how)
    least = policy.near if policy.one_sided is None else OFFERED_FROM
    near = [pair for pair in pairs[:MOST_CONTRADICTED] if (pair.similarity or 0) >= least]
    likelihoods = {pair.fact_id: likelihood(pair.found, pair.similarity or 0.0) for pair in near}
    merges = (merge for pair in pairs if (merge := _merged(pair, likelihoods.get(pair.fact_id, 0.0), policy)))
    yield from sorted(merges, key=lambda verdict: isinstance(verdict, Richer))
    yield _left_open(pairs, updates, likelihoods, policy)


def _compared(statement: Statement, neighbours: Sequence[Neighbour], policy: Policy) -> Iterator[_Pair]:
    room = MOST_COMPARED
    for at, other in enumerate(neighbours):
        if other.similarity < _compared_from(policy):
            return
        mine, theirs = statement.numbers - other.statement.numbers, other.statement.numbers - statement.numbers
        if at >= MOST_CONTRADICTED:
            if mine and theirs:
                continue  # cheap test: in a scope with many similar facts, most neighbors have other numbers
            room -= len(other.statement.text)
        if room < 0:
            return
        yield _Pair(statement, other.fact_id, other.statement, other.similarity)


def _merged(pair: _Pair, likely: float, policy: Policy) -> AlreadyKnown | Richer | None:
    """Return the merge of two texts if one says more, or if both say the same in other words."""
    found, similarity = pair.found, pair.similarity or 0.0
    if policy.one_sided is None or similarity < policy.equal:
        return None
    is_long = len(found.left.words) - len(found.only_left) >= LONG
    is_reworded = is_long and likely >= REWORDED and _is_free_of_detail(found)
    is_contained = not pair.found.objection and similarity >= policy.one_sided
    if not is_contained and not is_reworded:
        return None
    how = "the same" if is_contained else f"the same in other words, likelihood {likely:.2f}"
    here, there = found.containment
    if not found.only_right or here < there * RATHER_MORE:
        reason = f"{how}, and it adds: {texts(found.only_left)}"
        return Richer(fact_id=pair.fact_id, reason=reason, similarity=pair.similarity)
    is_less = not found.only_left or there < here * RATHER_MORE
    reason = f"{how}, and it is known with: {texts(found.only_right)}" if is_less else how
    return AlreadyKnown(fact_id=pair.fact_id, reason=reason, similarity=pair.similarity, is_less=is_less)


def _is_free_of_detail(found: Difference) -> bool:
    """Return whether no detail but a condition tells two paraphrases apart."""
    is_beside = found.left.is_added != found.right.is_added or (found.left.is_past and not found.right.is_past)
    if is_beside or vetoed(found, is_reworded=True) or (has_literal(found.only_left) and has_literal(found.only_right)):
        return False
    is_one_word = bool(found.only_left and found.only_right) and found.alignment[2] < 2
    return bool(found.only_left or found.only_right) and not is_one_word


def _is_detail(found: Difference) -> bool:
    """Return whether only a word or two, their order, or numbers differ."""
    if all(any(word.key.isdecimal() for word in each) for each in (found.only_left, found.only_right)):
        return True
    return max(len(found.only_left), len(found.only_right)) <= 2 and found.alignment[2] <= 2


def _left_open(
    pairs: Sequence[_Pair], updates: Iterable[tuple[_Pair, Update]], likelihoods: Mapping[UUID, float], policy: Policy
) -> LinkedTo | NewFact:
    """Return the likeliest duplicate, else a possible update, else the nearest fact."""
    duplicates = [
        (likely, pair)
        for pair in pairs
        if (likely := likelihoods.get(pair.fact_id, 0.0)) >= OFFERED
        and not (pair.found.objection and _is_detail(pair.found))
    ]
    if duplicates:
        likely, pair = max(duplicates, key=lambda each: each[0])
        reason = pair.found.objection or _OPEN
        return _link(pair, reason, kind=LinkKind.DUPLICATE, likely=likely)
    for pair, changed in updates:
        return _link(pair, changed.reason, kind=LinkKind.UPDATE)
    if pairs and (pairs[0].similarity or 0) >= policy.near:
        return _link(pairs[0], pairs[0].found.objection or _OPEN, kind=LinkKind.RELATED)
    return NewFact()


def _link(pair: _Pair, reason: str, *, kind: LinkKind, likely: float | None = None) -> LinkedTo:
    return LinkedTo(fact_id=pair.fact_id, reason=reason, similarity=pair.similarity, kind=kind, likelihood=likely)


def _ruled(pair: _Pair, ruling: Adjudication) -> Verdict:
    """Apply a model's *ruling*; it merges no texts that differ in a detail alone."""
    fact_id, cosine, reason = pair.fact_id, pair.similarity, str(ruling)
    match ruling.relation:
        case Relation.DIFFERENT:
            return _link(pair, reason, kind=LinkKind.RELATED)
        case Relation.CORRECTS:
            return Supersedes(fact_id=fact_id, reason=reason, similarity=cosine, is_ruled=True)
        case _ if pair.found.objection and _is_detail(pair.found):
            return _link(pair, f"{reason}; but {pair.found.objection}", kind=LinkKind.DUPLICATE)
        case Relation.MORE:
            return Richer(fact_id=fact_id, reason=reason, similarity=cosine, is_ruled=True)
        case Relation.SAME | Relation.LESS as found:
            is_less = found is Relation.LESS
            return AlreadyKnown(fact_id=fact_id, reason=reason, similarity=cosine, is_less=is_less, is_ruled=True)


def _adjudicated(found: Sequence[Verdict], ruled: Sequence[Verdict], rulings: FactRulings) -> Iterator[Verdict]:
    """Yield equal content, what a model has *ruled*, and what that leaves of *found*."""
    *sure, last = found
    equal = [each for each in sure if each.reason == SAME_SENSE]
    others = [each for each in sure if not isinstance(each, NewFact) and each not in equal]
    overruled = {each.fact_id for each in others if each.fact_id in rulings and rulings[each.fact_id].is_stated}
    yield from equal
    for kind in (AlreadyKnown, Richer, Supersedes):
        yield from (each for each in ruled if isinstance(each, kind))
    yield from (each for each in others if each.fact_id not in overruled)
    links = {each.fact_id: each for each in ruled if isinstance(each, LinkedTo)}
    yield from (each for each in links.values() if each.kind is LinkKind.DUPLICATE or each.fact_id in overruled)
    if isinstance(last, LinkedTo) and last.fact_id in links:
        reason = f"{last.reason}; {links[last.fact_id].reason}"
        last = LinkedTo(fact_id=last.fact_id, reason=reason, similarity=last.similarity)
    yield last
