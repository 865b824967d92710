"""Erase a session or a fact from a scope's fact log. Pure: rows in, rows out.

A fact that only the erased source stated is removed, with every row about it. A fact that other sources stated too
stays, in the words of the first of them. It gets a new id, since a fact's id derives from its source and its wording.
Reasons that may quote erased text are replaced.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

from nous.domain.fact import (
    Confirmed,
    Embedded,
    Learned,
    Linked,
    Row,
    Superseded,
    embedding,
    in_force,
    named,
    occurrences,
    standing,
)
from nous.knowledge.normalize import exact_form
from nous.knowledge.reattribution import ReattributedFact, Stays, places, reattribute, settle

FORGOTTEN = "the reason may have quoted what was forgotten, and went with it"
"""Replacement for a reason that may quote erased text."""


class Kept(NamedTuple):
    """A row of the new log, and the index of the old row that it replaces.

    It keeps the vector of that row, if there is one.
    """

    row: Row
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """Result of an erasure: the remaining log, and the affected facts.

    *gone* are facts without a remaining source. *retold* maps facts that were re-attributed to their new ids. *revived*
    are superseded facts that are current again.
    """

    rows: tuple[Kept, ...]
    gone: frozenset[UUID]
    retold: Mapping[UUID, UUID]
    revived: frozenset[UUID]
    has_changed: bool
    lost_rows: int
    lost_vectors: int

    @property
    def touched(self) -> frozenset[UUID]:
        """Return the facts whose words must no longer be found."""
        return self.gone | self.retold.keys()


def without_session(rows: Sequence[Row], session_id: str) -> Erased:
    """Erase everything that *session_id* stated, by its episode or by hand."""
    return without(rows, lambda _, source: source.session_id != session_id)


def without_fact(rows: Sequence[Row], forgotten: UUID) -> Erased:
    """Erase one fact and all facts that say the same, from every source."""
    gone = alike(rows, forgotten)
    return without(rows, lambda fact, _: fact not in gone)


def alike(rows: Iterable[Row], fact: UUID) -> frozenset[UUID]:
    """Return *fact* and all facts that say the same.

    These are facts that were merged into it, but not facts that it contradicts, and facts stated in its words. If they
    stayed, they would become current again.
    """
    known = standing(rows)
    forms: defaultdict[UUID, set[str]] = defaultdict(set)
    owners: defaultdict[str, set[UUID]] = defaultdict(set)
    before: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for said, _, text in occurrences(known):
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


def without(rows: Sequence[Row], stays: Stays) -> Erased:
    """Reduce the log to the statements for which *stays* is true."""
    if all(stays(fact, source) for fact, source, _ in occurrences(rows)):
        return _unchanged(rows)
    reattributed = reattribute(rows)
    settle(reattributed, stays)
    touched = {fact for fact, each in reattributed.items() if each.id != fact}
    tied = {end for row in rows if touched & (ends := named(row)) for end in ends}
    past = {id(row): now for row, now in zip(rows, in_force(rows), strict=True) if now is not row}
    rewriter = _Rewriter(reattributed, stays, tied | touched, past)
    kept = tuple(_in_order(Kept(row, at) for at, old in enumerate(rows) if (row := rewriter(old))))
    return Erased(
        rows=kept,
        gone=frozenset(fact for fact in touched if reattributed[fact].id is None),
        retold={fact: now for fact in touched if (now := reattributed[fact].id) is not None},
        revived=_revived(reattributed, kept),
        has_changed=tuple(row for row, _ in kept) != tuple(rows),
        lost_rows=len(rows) - len(kept),
        lost_vectors=_vectors(rows) - _vectors(row for row, _ in kept),
    )


def _unchanged(rows: Sequence[Row]) -> Erased:
    kept = tuple(Kept(row, at) for at, row in enumerate(rows))
    none = frozenset[UUID]()
    return Erased(rows=kept, gone=none, retold={}, revived=none, has_changed=False, lost_rows=0, lost_vectors=0)


def _revived(reattributed: Mapping[UUID, ReattributedFact], kept: Iterable[Kept]) -> frozenset[UUID]:
    """Return the facts superseded in the old log but no longer in the new one, *kept*."""
    superseded = {each.id for each in reattributed.values() if each.id and each.superseded}
    stood = {each.id for each in reattributed.values() if not each.superseded}
    return frozenset(superseded - stood - {row.fact_id for row, _ in kept if isinstance(row, Superseded)})


def _in_order(kept: Iterable[Kept]) -> Iterator[Kept]:
    """Yield each row after the facts that it names.

    Some facts were re-attributed to sources that come later in the log.
    """
    learned: set[UUID] = set()
    waiting: list[Kept] = []
    for each in kept:
        if isinstance(each.row, Learned):
            learned.add(each.row.fact.id)
            yield each
            yield from (late for late in waiting if named(late.row) <= learned)
            waiting = [late for late in waiting if not named(late.row) <= learned]
        elif named(each.row) <= learned:
            yield each
        else:
            waiting.append(each)
    yield from waiting


def _vectors(rows: Iterable[Row]) -> int:
    return sum(embedding(row) is not None for row in rows)


class _Rewriter:
    """Rewriter from rows of the old log to rows of the new one.

    *suspect* are facts whose reasons may quote erased text. *past* covers rows that are not in force as written,
    because a merge was undone: it maps their `id()` to the row in force, or None. They stay as they are as long as
    their facts are unchanged.
    """

    def __init__(
        self,
        reattributed: Mapping[UUID, ReattributedFact],
        stays: Stays,
        suspect: set[UUID],
        past: Mapping[int, Row | None],
    ) -> None:
        self._reattributed = reattributed
        self._stays = stays
        self._suspect = suspect
        self._past = past
        self._places = {id(place.row): place for place in places(reattributed)}

    def __call__(self, row: Row) -> Row | None:
        """Return the replacement of *row*, or None to drop it."""
        if id(row) in self._past:
            is_said = not isinstance(row, Confirmed) or self._stays(row.fact_id, row.source)
            if is_said and all(self._now(fact) == fact for fact in named(row)):
                return row
            now = self._past[id(row)]
            return self._confirmed(now) if isinstance(now, Confirmed) else None
        match row:
            case Learned():
                return self._learned(row)
            case Confirmed():
                return self._confirmed(row)
            case Superseded():
                return self._superseded(row)
            case Linked():
                return self._linked(row)
            case Embedded():
                each = self._reattributed.get(row.fact_id)
                return replace(row, fact_id=each.now.id) if each and each.now and each.keeps_text else None

    def _learned(self, row: Learned) -> Learned | None:
        each = self._reattributed[row.fact.id]
        if each.now is None:
            return None
        reason = FORGOTTEN if row.fact.id in self._suspect else row.reason
        return Learned(fact=each.now, reason=reason, embedded_by=row.embedded_by if each.keeps_text else None)

    def _confirmed(self, row: Confirmed) -> Confirmed | None:
        each = self._reattributed.get(row.fact_id)
        if each is None or each.id is None or row == each.new_source or not self._stays(row.fact_id, row.source):
            return None
        merged = self._now(row.merged_from) if row.merged_from else None
        if merged != row.merged_from or merged == each.id:
            row = replace(row, merged_from=None if merged == each.id else merged)
        if each.id == row.fact_id:
            return replace(row, reason=FORGOTTEN) if row.fact_id in self._suspect else row
        owner = self._reattributed.get(each.id)
        if owner and (owner.learned.fact.source, owner.learned.fact.text) == (row.source, row.text):
            return None
        return replace(row, fact_id=each.id, reason=FORGOTTEN, similarity=None)

    def _superseded(self, row: Superseded) -> Superseded | None:
        place = self._places.get(id(row))
        if place is None:
            return None
        one, by, valid_to = place.fact, place.by, place.valid_to
        if (one, by) == (row.fact_id, row.by):
            return row
        return replace(row, fact_id=one, by=by, reason=FORGOTTEN, similarity=None, valid_to=valid_to)

    def _linked(self, row: Linked) -> Linked | None:
        one, other = self._now(row.fact_id), self._now(row.other)
        if one is None or other is None or one == other:
            return None
        if (one, other) == (row.fact_id, row.other):
            return row
        return replace(row, fact_id=one, other=other, reason=FORGOTTEN, similarity=None, likelihood=None)

    def _now(self, fact: UUID) -> UUID | None:
        each = self._reattributed.get(fact)
        return each.id if each else None
