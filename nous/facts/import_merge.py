"""Rows of somebody else's log, joined to a log. Pure: rows go in, rows come out."""

from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

from nous.domain.fact import (
    Confirmed,
    Embedded,
    Fact,
    Learned,
    Linked,
    LinkKind,
    Row,
    Source,
    Superseded,
    bare,
    named,
    standing,
    tellings,
)
from nous.facts.erase import FORGOTTEN, without
from nous.facts.fact_index import Knowledge
from nous.facts.judge import SAME_TEXT, New
from nous.facts.learn import NOT_ALL_COMPARED, NOT_COMPARED
from nous.facts.normalize import exact_form
from nous.facts.reattribution import Stays

LEFT_BEHIND = "the reason may have quoted a fact that did not come along, and was left behind"
"""In place of a reason that may quote it."""

_LAST = datetime.max.replace(tzinfo=UTC)
_QUOTELESS = {New().reason, NOT_COMPARED, NOT_ALL_COMPARED, FORGOTTEN, LEFT_BEHIND}
"""Reasons that name no other fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What is to be appended.

    Left out are *unknown* rows, about facts that nobody has, and *forgotten* tellings of facts, by how many.
    """

    rows: tuple[Row, ...]
    unknown: int
    forgotten: int


class Present:
    """A log, as far as it takes to say what of other rows it has."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._keys: set[tuple[object, ...]] = set()
        self._ways: dict[UUID, UUID] = {}
        self._apart: dict[frozenset[UUID], Linked] = {}
        self.extend(rows)

    def extend(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._keys.add(_key(row))
            _take(row, self._ways, self._apart)

    def missing(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Those of *rows* that the log has not, each once, but for those about facts that neither has.

        A fact gives way once, and never to itself, though two who have the same facts may each have found so in another
        way. What would give way to something else besides is linked to that, since reasons may quote it; and so is what
        a person keeps apart here. What a person took back elsewhere is taken back here, where it holds.
        """
        fresh: set[tuple[object, ...]] = set()
        ways = ChainMap[UUID, UUID]({}, self._ways)
        apart = ChainMap[frozenset[UUID], Linked]({}, self._apart)
        for told in rows:
            row = told if _key(told) in self._keys else _fitting(told, ways, apart)
            key = _key(row)
            is_there = key in self._keys or key in fresh or _says_nothing(row, ways)
            if is_there or not all(_is_in(fact, self._keys, fresh) for fact in named(row)):
                continue
            _take(row, ways, apart)
            fresh.add(key)
            yield row


def joined(rows: Sequence[Row], log: Sequence[Row], *, forgotten: Collection[str], gone: Collection[str]) -> Joined:
    """What *rows*, in whatever order, add to *log*, which knows nothing of *forgotten* texts and *gone* sessions.

    What they have said is told by others who have said the same. A text that is known is no second fact. Each row comes
    right behind the last of its facts, the ties before all else that is said of that.
    """
    present, ordered = Present(log), _ordered(rows)
    new = tuple(present.missing(ordered))
    stays = _staying(new, forgotten, gone)
    erased = without((*log, *new), stays)
    kept = tuple(present.missing(each.row for each in erased.rows))
    facts = {_key(row) for row in (*log, *ordered) if isinstance(row, Learned)}
    return Joined(
        rows=tuple(_grounded(tuple(present.missing(_ordered(_as_one(kept, log)))))),
        unknown=sum(not all(_is_in(fact, facts) for fact in named(row)) for row in ordered),
        forgotten=sum(not stays(fact, source) for fact, source, _ in tellings(new)),
    )


def _grounded(rows: Sequence[Row]) -> Iterator[Row]:
    """*rows*, in which no fact has a reason that may quote another to which no row right behind it ties it.

    When that other is forgotten, it would not be known that the reason has to go too; nor when it comes only later, and
    never does.
    """
    places = _places(rows)
    ties = {(_place(row, places), row.reason) for row in rows if isinstance(row, Superseded | Linked)}
    for row in rows:
        is_tied = not isinstance(row, Learned) or row.reason in _QUOTELESS or (_place(row, places), row.reason) in ties
        yield row if is_tied else replace(row, reason=LEFT_BEHIND)


def _staying(rows: Sequence[Row], forgotten: Collection[str], gone: Collection[str]) -> Stays:
    """Whether *rows* may bring what a source has said; a fact with a forgotten text is not told in other words."""
    facts = {row.fact.id for row in rows if isinstance(row, Learned) and exact_form(row.fact.text) in forgotten}
    again = {(fact, source) for fact, source, text in tellings(rows) if exact_form(text) in forgotten}

    def stays(fact: UUID, source: Source) -> bool:
        return not (fact in facts or (fact, source) in again or source.session_id in gone)

    return stays


def _ordered(rows: Iterable[Row]) -> Sequence[Row]:
    """*rows* without vectors: the facts as they come, and behind each what no fact behind it is needed for, ties first.

    So the log that they are added to has no fact whose reason may quote another before it has what ties the two. What a
    person has settled comes last, in time; where something was taken back, all that has given way does. Then
    comes what was said of one fact in the words of another: which of the two it counts for depends on all that.
    """
    found = tuple(map(bare, rows))
    places = _places(found)
    has_undone = any(isinstance(row, Superseded) and row.is_undone for row in found)

    def key(row: Row) -> tuple[bool, int, bool, bool, datetime]:
        if isinstance(row, Confirmed) and row.merged_from:
            return True, 0, False, False, _LAST
        if not isinstance(row, Superseded | Linked):
            return False, _place(row, places), not isinstance(row, Learned), True, _LAST
        if row.by_hand or (isinstance(row, Superseded) and has_undone):
            return True, 0, False, False, row.at
        return False, _place(row, places), True, False, row.at

    return sorted(found, key=key)


def _places(rows: Iterable[Row]) -> Mapping[UUID, int]:
    """Which of the facts that *rows* teach comes how late."""
    facts = dict.fromkeys(row.fact.id for row in rows if isinstance(row, Learned))
    return {fact: place for place, fact in enumerate(facts)}


def _place(row: Row, places: Mapping[UUID, int]) -> int:
    """That of the last of its facts, -1 where the log has them all."""
    facts = {row.fact.id} if isinstance(row, Learned) else named(row)
    return max(places.get(fact, -1) for fact in facts)


def is_tie(row: Row) -> bool:
    """Whether *row* ties one fact to another, which the reason of one may quote."""
    return isinstance(row, Superseded | Linked)


def _as_one(rows: Sequence[Row], log: Sequence[Row]) -> Iterator[Row]:
    """*rows*, in which a fact that is known in the same words is that one, said again.

    What has given way, or gives way now, is history: nothing becomes part of that, and it becomes part of nothing. But
    what was said again once stays that, whatever has become of it.
    """
    past = {row.fact_id for row in standing(rows) if isinstance(row, Superseded)}
    again = {(row.source.event_id, row.text): row.fact_id for row in log if isinstance(row, Confirmed)}
    known = Knowledge(embedder_id="", dim=0)
    known.extend(log, {})
    same: dict[UUID, UUID] = {}
    for row in rows:
        if isinstance(row, Learned) and row.fact.id not in past:
            line = known.line(exact_form(row.fact.text))
            owner = line[-1].fact.id if line and line[-1].is_current else None
            owner = again.get((row.fact.source.event_id, row.fact.text), owner)
            if owner and owner not in past:
                same[row.fact.id] = owner
                yield _said_again(row.fact, owner)
                continue
        known.extend([row], {})
        if one := _of(row, same):
            yield one


def _said_again(fact: Fact, same: UUID) -> Confirmed:
    return Confirmed(fact_id=same, source=fact.source, text=fact.text, reason=SAME_TEXT, at=fact.learned_at)


def _of(row: Row, same: Mapping[UUID, UUID]) -> Row | None:
    """*row*, said of the facts that those it names are now; None where it would tie one to itself."""
    match row:
        case Confirmed():
            one = same.get(row.fact_id, row.fact_id)
            merged = same.get(row.merged_from, row.merged_from) if row.merged_from else None
            return replace(row, fact_id=one, merged_from=None if merged == one else merged)
        case Embedded():
            return replace(row, fact_id=same.get(row.fact_id, row.fact_id))
        case Superseded():
            return replace(row, by=same.get(row.by, row.by))
        case Linked():
            one, other = same.get(row.fact_id, row.fact_id), same.get(row.other, row.other)
            return None if one == other else replace(row, fact_id=one, other=other)
        case Learned():
            return row


def _fitting(row: Row, ways: Mapping[UUID, UUID], apart: Mapping[frozenset[UUID], Linked]) -> Row:
    """*row*, or a link in place of a way that its fact cannot give any more."""
    if not isinstance(row, Superseded) or row.is_undone:
        return row
    link = apart.get(named(row))
    is_apart = link is not None and link.kind is LinkKind.APART
    return _linked(row) if is_apart or _has_way(row, ways) else row


def _take(row: Row, ways: MutableMapping[UUID, UUID], apart: MutableMapping[frozenset[UUID], Linked]) -> None:
    """Take *row* into account: in *ways*, what each fact has given way to; in *apart*, the last link by hand."""
    if isinstance(row, Linked) and row.by_hand:
        apart[named(row)] = max(row, apart.get(named(row), row), key=lambda each: each.at)
    elif not isinstance(row, Superseded):
        return
    elif not row.is_undone:
        ways[row.fact_id] = row.by
    elif ways.get(row.fact_id) == row.by:
        ways[row.fact_id] = row.fact_id


def _has_way(row: Superseded, ways: Mapping[UUID, UUID]) -> bool:
    """Whether the fact has given way already, or would come round to itself."""
    return ways.get(row.fact_id, row.fact_id) != row.fact_id or row.fact_id in _successors(row.by, ways)


def _says_nothing(row: Row, ways: Mapping[UUID, UUID]) -> bool:
    """Return whether *row* undoes what does not hold, or links a fact to itself or to one that it gave way to."""
    match row:
        case Superseded(is_undone=True):
            return ways.get(row.fact_id) != row.by
        case Linked():
            return row.other in {row.fact_id, ways.get(row.fact_id)} or ways.get(row.other) == row.fact_id
        case _:
            return False


def _linked(row: Superseded) -> Linked:
    return Linked(fact_id=row.by, other=row.fact_id, reason=row.reason, at=row.at, similarity=row.similarity)


def _successors(fact_id: UUID, ways: Mapping[UUID, UUID]) -> set[UUID]:
    """The fact, what it has given way to, and so on."""
    found = {fact_id}
    while (fact_id := ways.get(fact_id, fact_id)) not in found:
        found.add(fact_id)
    return found


def _is_in(fact: UUID, *keys: Collection[tuple[object, ...]]) -> bool:
    return any(("learned", fact) in each for each in keys)


def _key(row: Row) -> tuple[object, ...]:
    match row:
        case Learned():
            return "learned", row.fact.id
        case Confirmed():
            return "confirmed", row.fact_id, row.source.event_id, row.text
        case Superseded():
            return "superseded", row.fact_id, row.by, row.at, row.is_undone
        case Linked():
            return "linked", row.fact_id, row.other, row.at if row.by_hand else None
        case Embedded():
            return "embedded", row.fact_id, row.embedded_by
