"""Facts that were learned without a vector, compared by meaning after all. Pure, as `nous.learning.learn` is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from nous.fact import Embedded, Fact, Row, Superseded
from nous.learning.finding import linked
from nous.learning.judge import Known, Linked, New, Richer, Supersedes, Verdict, floor, verdicts
from nous.learning.known import Knowledge, KnownFact
from nous.learning.policy import Policy
from nous.learning.settling import merged
from nous.learning.standing import Claim, settled
from nous.learning.superseding import Said, outdated
from nous.learning.vectors import checked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
