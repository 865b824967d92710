"""Merge the rows of another fact log into a log. Pure: rows in, rows out."""

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
    occurrences,
    standing,
)
from nous.knowledge.erase import FORGOTTEN, without
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.judge import SAME_TEXT, NewFact
from nous.knowledge.learn import NOT_ALL_COMPARED, NOT_COMPARED
from nous.knowledge.normalize import exact_form
from nous.knowledge.reattribution import Stays

LEFT_BEHIND = "the reason may have quoted a fact that did not come along, and was left behind"
"""Replacement for a reason that may quote a fact which is not imported."""

_LAST = datetime.max.replace(tzinfo=UTC)
_QUOTELESS = {NewFact().reason, NOT_COMPARED, NOT_ALL_COMPARED, FORGOTTEN, LEFT_BEHIND}
"""Reasons that quote no other fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """Rows to append, and counts of what was left out.

    *unknown* counts rows about facts that are in neither log. *forgotten* counts statements that the receiving log
    erased.
    """

    rows: tuple[Row, ...]
    unknown: int
    forgotten: int


class ExistingLog:
    """Index of a log that tells which of other rows it lacks."""

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
        """Yield each row that the log lacks, once; skip rows about facts that are in neither log.

        A fact is superseded once, and never by itself, even if two logs with the same facts superseded it differently.
        A second supersession becomes a link, since reasons may quote the other fact. So does the supersession of facts
        that a person keeps apart in this log. A manual undo from the other log is applied here if the supersession is
        in force.
        """
        fresh: set[tuple[object, ...]] = set()
        ways = ChainMap[UUID, UUID]({}, self._ways)
        apart = ChainMap[frozenset[UUID], Linked]({}, self._apart)
        for given in rows:
            row = given if _key(given) in self._keys else _fitting(given, ways, apart)
            key = _key(row)
            is_there = key in self._keys or key in fresh or _says_nothing(row, ways)
            if is_there or not all(_is_in(fact, self._keys, fresh) for fact in named(row)):
                continue
            _take(row, ways, apart)
            fresh.add(key)
            yield row


def merge_rows(
    rows: Sequence[Row], log: Sequence[Row], *, forgotten: Collection[str], gone: Collection[str]
) -> MergeResult:
    """Return what *rows* add to *log*, without *forgotten* texts and *gone* sessions.

    *rows* may come in any order. Erased statements are re-attributed to other sources that said the same. A text that
    is known already becomes a confirmation, not a second fact. Each row follows directly behind the last of its facts,
    supersessions and links before all other rows about that fact.
    """
    present, ordered = ExistingLog(log), _ordered(rows)
    new = tuple(present.missing(ordered))
    stays = _staying(new, forgotten, gone)
    erased = without((*log, *new), stays)
    kept = tuple(present.missing(each.row for each in erased.rows))
    facts = {_key(row) for row in (*log, *ordered) if isinstance(row, Learned)}
    return MergeResult(
        rows=tuple(_grounded(tuple(present.missing(_ordered(_as_one(kept, log)))))),
        unknown=sum(not all(_is_in(fact, facts) for fact in named(row)) for row in ordered),
        forgotten=sum(not stays(fact, source) for fact, source, _ in occurrences(new)),
    )


def _grounded(rows: Sequence[Row]) -> Iterator[Row]:
    """Replace reasons that may quote a fact, unless a row right behind them ties the two.

    Without such a row, nothing would show that the reason has to go when the quoted fact is erased. A row that comes
    later does not count, since the import may stop before it.
    """
    places = _places(rows)
    ties = {(_place(row, places), row.reason) for row in rows if isinstance(row, Superseded | Linked)}
    for row in rows:
        is_tied = not isinstance(row, Learned) or row.reason in _QUOTELESS or (_place(row, places), row.reason) in ties
        yield row if is_tied else replace(row, reason=LEFT_BEHIND)


def _staying(rows: Sequence[Row], forgotten: Collection[str], gone: Collection[str]) -> Stays:
    """Return the predicate for statements in *rows* that may be imported.

    A fact with an erased text is not imported in other words either.
    """
    facts = {row.fact.id for row in rows if isinstance(row, Learned) and exact_form(row.fact.text) in forgotten}
    again = {(fact, source) for fact, source, text in occurrences(rows) if exact_form(text) in forgotten}

    def stays(fact: UUID, source: Source) -> bool:
        return not (fact in facts or (fact, source) in again or source.session_id in gone)

    return stays


def _ordered(rows: Iterable[Row]) -> Sequence[Row]:
    """Sort *rows* so that the log is complete after each of them, and drop vectors.

    Facts keep their order. Behind each come the rows that need no later fact, supersessions and links first. So the log
    never holds a fact whose reason may quote another before the row that ties the two. Manual decisions come last, in
    time order. If anything was undone, all supersessions come there too. Confirmations that came by a merge are at the
    very end: which fact they count for depends on all that.
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
    """Map each fact that *rows* teach to its position."""
    facts = dict.fromkeys(row.fact.id for row in rows if isinstance(row, Learned))
    return {fact: place for place, fact in enumerate(facts)}


def _place(row: Row, places: Mapping[UUID, int]) -> int:
    """Return the position of the last of the row's facts; -1 if the log has them all."""
    facts = {row.fact.id} if isinstance(row, Learned) else named(row)
    return max(places.get(fact, -1) for fact in facts)


def is_tie(row: Row) -> bool:
    """Return whether *row* ties two facts, so that the reason of one may quote the other."""
    return isinstance(row, Superseded | Linked)


def _as_one(rows: Sequence[Row], log: Sequence[Row]) -> Iterator[Row]:
    """Turn each fact that is known in the same words into a confirmation of the known one.

    Superseded facts, also those that *rows* supersede, are history: they neither absorb facts nor are absorbed. A
    statement that is a confirmation in *log* stays one, no matter what happened to its fact.
    """
    past = {row.fact_id for row in standing(rows) if isinstance(row, Superseded)}
    again = {(row.source.event_id, row.text): row.fact_id for row in log if isinstance(row, Confirmed)}
    known = FactIndex(embedder_id="", dim=0)
    known.extend(log, {})
    same: dict[UUID, UUID] = {}
    for row in rows:
        if isinstance(row, Learned) and row.fact.id not in past:
            line = known.revisions(exact_form(row.fact.text))
            owner = line[-1].fact.id if line and line[-1].is_current else None
            owner = again.get((row.fact.source.event_id, row.fact.text), owner)
            if owner and owner not in past:
                same[row.fact.id] = owner
                yield _confirmation(row.fact, owner)
                continue
        known.extend([row], {})
        if one := _of(row, same):
            yield one


def _confirmation(fact: Fact, same: UUID) -> Confirmed:
    return Confirmed(fact_id=same, source=fact.source, text=fact.text, reason=SAME_TEXT, at=fact.learned_at)


def _of(row: Row, same: Mapping[UUID, UUID]) -> Row | None:
    """Return *row* with ids of absorbed facts replaced; None if it would tie a fact to itself."""
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
    """Return *row*, or a link in place of a supersession that is no longer possible."""
    if not isinstance(row, Superseded) or row.is_undone:
        return row
    link = apart.get(named(row))
    is_apart = link is not None and link.kind is LinkKind.APART
    return _linked(row) if is_apart or _is_superseded(row, ways) else row


def _take(row: Row, ways: MutableMapping[UUID, UUID], apart: MutableMapping[frozenset[UUID], Linked]) -> None:
    """Apply *row* to *ways* (the successor of each fact) and *apart* (the last manual link)."""
    if isinstance(row, Linked) and row.by_hand:
        apart[named(row)] = max(row, apart.get(named(row), row), key=lambda each: each.at)
    elif not isinstance(row, Superseded):
        return
    elif not row.is_undone:
        ways[row.fact_id] = row.by
    elif ways.get(row.fact_id) == row.by:
        ways[row.fact_id] = row.fact_id


def _is_superseded(row: Superseded, ways: Mapping[UUID, UUID]) -> bool:
    """Return whether the fact is superseded already, or *row* would close a cycle."""
    return ways.get(row.fact_id, row.fact_id) != row.fact_id or row.fact_id in _successors(row.by, ways)


def _says_nothing(row: Row, ways: Mapping[UUID, UUID]) -> bool:
    """Return whether *row* undoes nothing in force, or links a fact to itself or its successor."""
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
    """Return the fact, its successor, the successor's successor, and so on."""
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
