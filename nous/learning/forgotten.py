"""Texts that must not be learned again, known by their marks alone."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from uuid import UUID

from nous.fact import Learned, Row, Superseded, tellings
from nous.learning.normalise import exact_form
from nous.scope import Scope


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Exact forms that must not be learned again in *scope*, of which only *marks* are known."""

    scope: Scope
    marks: frozenset[str] = frozenset()

    def __contains__(self, form: object) -> bool:
        return bool(self.marks) and isinstance(form, str) and mark_of(self.scope, form) in self.marks

    def __len__(self) -> int:
        return len(self.marks)

    def __iter__(self) -> Iterator[str]:
        """The marks; the forms themselves are forgotten."""
        return iter(self.marks)


def mark_of(scope: Scope, form: str) -> str:
    """What is remembered of a forgotten text: enough to know it again, and nothing to read."""
    key = blake2b(str(scope).encode(), digest_size=32).digest()
    return blake2b(form.encode(errors="replace"), key=key, digest_size=16).hexdigest()


def wordings(rows: Iterable[Row], facts: Collection[UUID]) -> frozenset[str]:
    """Every exact form in which any of *facts* was said; empty where there are none."""
    return frozenset(exact_form(text) for fact, _, text in tellings(rows) if fact in facts)


def alike(rows: Iterable[Row], fact: UUID) -> frozenset[UUID]:
    """*fact* and all that say the same: what gave way to it, but not to its contrary, and what was said in its words.

    Forgetting it alone would make them current again.
    """
    known = tuple(rows)
    forms: defaultdict[UUID, set[str]] = defaultdict(set)
    owners: defaultdict[str, set[UUID]] = defaultdict(set)
    before: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for said, _, text in tellings(known):
        form = exact_form(text)
        forms[said].add(form)
        owners[form].add(said)
    for row in known:
        if isinstance(row, Superseded) and row.valid_to is None:
            before[row.by].add(row.fact_id)
    found, fresh = {fact}, {fact}
    while fresh:
        near = (owners[form] for each in fresh for form in forms[each])
        fresh = set().union(*near, *(before[each] for each in fresh)) - found
        found |= fresh
    return frozenset(found)


def revived(rows: Iterable[Row], left: Iterable[Row], retold: Mapping[UUID, UUID]) -> frozenset[UUID]:
    """The facts that gave way in *rows* and are current again in *left*, where *retold* are others now."""
    was, gave_way = _told(rows)
    now, still = _told(left)
    fresh = {retold.get(fact, fact) for fact in gave_way} - {retold.get(fact, fact) for fact in was - gave_way}
    return frozenset((now - still) & fresh)


def _told(rows: Iterable[Row]) -> tuple[set[UUID], set[UUID]]:
    """The facts of *rows*, and those of them that gave way."""
    known = tuple(rows)
    return (
        {row.fact.id for row in known if isinstance(row, Learned)},
        {row.fact_id for row in known if isinstance(row, Superseded)},
    )
