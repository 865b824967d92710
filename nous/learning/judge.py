"""Is this new? The cosine proposes whom to compare with, the guard disposes.

A verdict is reached in this order: equal texts are known. Of the known facts near by, one that says the same in other
words makes the candidate known; so does one that says the same and more. One that says the same and less is superseded.
So is one that says the same of the same thing with another value. If all near ones differ in something else that
matters, the candidate is kept and linked to the nearest with the reason. What is near nothing is new.

Which of two that contradict each other is the newer, the texts do not tell: that is decided in `nous.learning.learn`.
Nor do they tell whether one may take the place of the other: `nous.learning.standing` picks from the verdicts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar
from uuid import UUID

from nous.fact import LinkKind
from nous.learning.guard.compare import Comparison, compare
from nous.learning.guard.lexicon import english
from nous.learning.guard.reading import Reading
from nous.learning.guard.word import Role
from nous.learning.policy import Dedup, Policy
from nous.learning.statement import Statement

SAME_TEXT = "the same text"
SAME_SENSE = "the same in other words"

MOST_COMPARED = 20_000
"""Characters of neighbours that are compared word by word, the nearest: some hundreds of facts, a few long ones.

It bounds how long a scope is held. A twin that stands behind so many strangers, all with its very numbers, is missed.
"""

MOST_CONTRADICTED = 16
"""Neighbours that are looked at for a contradiction, the nearest; and as many of the same subject, the newest."""

Namesakes = Mapping[UUID, Statement]
"""Current facts of the candidate's subject, near or far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A current fact near the candidate, and the cosine of the two."""

    fact_id: UUID
    statement: Statement
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """Nothing known is like it."""

    name: ClassVar[str] = "new"
    reason: str = "nothing known is near"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """*fact_id* says it already, and more if `is_less`.

    `similarity` is None where the texts are equal and no vector was asked.
    """

    name: ClassVar[str] = "known"
    fact_id: UUID
    reason: str
    similarity: float | None = None
    is_less: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Richer:
    """It says what *fact_id* says, and more."""

    name: ClassVar[str] = "richer"
    fact_id: UUID
    reason: str
    similarity: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersedes:
    """It gives another value to what *fact_id* tells of, so that only one of them is true at a time.

    `similarity` is None where the two are of one subject, and too far apart for a cosine to be known.
    """

    name: ClassVar[str] = "supersedes"
    fact_id: UUID
    reason: str
    similarity: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """It is close to *fact_id*, yet not the same; the reason says what differs.

    `is_open` means that the texts alone do not show it for certain: a model or a person may still decide. `kind` and
    `likelihood` are as in `nous.fact.Linked`.
    """

    fact_id: UUID
    reason: str
    similarity: float | None
    is_open: bool = False
    kind: LinkKind = LinkKind.RELATED
    likelihood: float | None = None

    @property
    def name(self) -> str:
        return "duplicate" if self.kind is LinkKind.DUPLICATE else "linked"


Verdict = New | Known | Richer | Supersedes | Linked


def judge(statement: Statement, neighbours: Sequence[Neighbour], policy: Policy) -> Verdict:
    """The first of the `verdicts`."""
    return next(verdicts(statement, neighbours, policy))


def verdicts(
    statement: Statement,
    neighbours: Sequence[Neighbour],
    policy: Policy,
    namesakes: Namesakes = MappingProxyType({}),
) -> Iterator[Verdict]:
    """What *statement* may be, held against the current facts near it, nearest first, and those of its subject.

    The best comes first. The last one is `New` or `Linked`, but for equal texts and for what goes by the cosine alone.
    """
    equal = next((near for near in neighbours if near.statement.form == statement.form), None)
    if equal:
        yield Known(fact_id=equal.fact_id, reason=SAME_TEXT, similarity=equal.similarity)
        return
    match policy.dedup:
        case Dedup.EXACT:
            yield New()
        case Dedup.COSINE:
            yield _by_cosine(neighbours, policy)
        case Dedup.GUARDED:
            yield from _guarded(statement, neighbours, policy, namesakes)


def rewords(statement: Statement, other: Statement) -> bool:
    """Whether *statement* says all of *other*, and perhaps more, in words that may be far from it.

    Too weak to merge what two episodes say; not where one episode is told twice, once as an order it was given: `always
    run billing on port 9017`, `billing always runs on port 9017`.
    """
    one, two = statement.reading, other.reading
    ways = ((one, two), _without_lead(one, two), _without_lead(two, one)[::-1])
    found = (compare(left, right, english()) for left, right in ways)
    return any(each.objection is None and not each.only_right for each in found)


def floor(policy: Policy) -> float:
    """The cosine below which a neighbour cannot matter to `judge`."""
    return min(policy.near, policy.equal) if policy.dedup is Dedup.GUARDED else policy.threshold


def _without_lead(order: Reading, other: Reading) -> tuple[Reading, Reading]:
    """Both without the verb that leads *order*; as they are where no verb does that *other* has, too."""
    lead = order.words[0] if order.words else None
    at = next((at for at, word in enumerate(other.words) if lead and word.key == lead.key), 0)
    if lead is None or lead.role is not Role.WORD or not at:
        return order, other
    return replace(order, words=order.words[1:]), replace(other, words=other.words[:at] + other.words[at + 1 :])


def _by_cosine(neighbours: Sequence[Neighbour], policy: Policy) -> Verdict:
    nearest = neighbours[0] if neighbours else None
    if nearest is None or nearest.similarity <= policy.threshold:
        return New()
    return Known(fact_id=nearest.fact_id, reason=f"cosine above {policy.threshold}", similarity=nearest.similarity)


def _guarded(
    statement: Statement, neighbours: Sequence[Neighbour], policy: Policy, namesakes: Namesakes
) -> Iterator[Verdict]:
    near = [neighbour for neighbour in neighbours if neighbour.similarity >= policy.near]
    comparable = [neighbour for neighbour in neighbours if neighbour.similarity >= floor(policy)]
    one_sided: list[Known | Richer] = []
    for verdict in _merges(statement, comparable, policy):
        if isinstance(verdict, Known) and not verdict.is_less:
            yield verdict
        else:
            one_sided.append(verdict)
    yield from sorted(one_sided, key=lambda verdict: isinstance(verdict, Richer))
    likely = {each.fact_id: each.statement for each in near[:MOST_CONTRADICTED]} | dict(namesakes)
    cosines = {each.fact_id: each.similarity for each in neighbours}
    yield from _contradicting(statement, likely, cosines)
    yield _linked(statement, near[0]) if near else New()


def _merges(statement: Statement, near: Sequence[Neighbour], policy: Policy) -> Iterator[Known | Richer]:
    """Every verdict that stores no second fact beside a neighbour, nearest first."""
    room = MOST_COMPARED
    for other in near:
        if other.statement.reading.quantities != statement.reading.quantities:
            continue  # what most neighbours differ in, where facts are many and alike
        room -= len(other.statement.text)
        if room < 0:
            return
        found = compare(statement.reading, other.statement.reading, english())
        if found.objection:
            continue
        if not found.only_left and not found.only_right:
            yield Known(fact_id=other.fact_id, reason=SAME_SENSE, similarity=other.similarity)
        elif policy.one_sided is not None and other.similarity >= policy.one_sided:
            yield _one_sided(other, found)


def _one_sided(other: Neighbour, found: Comparison) -> Known | Richer:
    more = " ".join(found.only_left or found.only_right)
    if found.only_left:
        reason = f"the same, and it adds: {more}"
        return Richer(fact_id=other.fact_id, reason=reason, similarity=other.similarity)
    reason = f"already known with: {more}"
    return Known(fact_id=other.fact_id, reason=reason, similarity=other.similarity, is_less=True)


def _contradicting(
    statement: Statement, others: Mapping[UUID, Statement], cosines: Mapping[UUID, float]
) -> Iterator[Supersedes]:
    for fact_id, other in others.items():
        if conflict := compare(statement.reading, other.reading, english()).conflict:
            yield Supersedes(fact_id=fact_id, reason=conflict, similarity=cosines.get(fact_id))


def _linked(statement: Statement, nearest: Neighbour) -> Linked:
    one, other = statement.reading, nearest.statement.reading
    found = compare(one, other, english())
    more = " ".join((*found.only_left, *found.only_right))
    reason = found.objection or f"only one says {more}, and they are not near enough to be the same"
    is_open = found.is_open or not found.objection
    return Linked(fact_id=nearest.fact_id, reason=reason, similarity=nearest.similarity, is_open=is_open)
