"""Erase a session or a fact from a scope's fact log. Pure: rows in, rows out.

A fact that only the erased source stated is removed, with every row about it. A fact that other sources stated too
stays. If the erased source was its first, it takes the words of the next one, and a new id, since an id derives from
source and wording. Reasons that may quote erased text are replaced.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from uuid import UUID

from nous.domain.fact import (
    Confirmed,
    Embedded,
    Fact,
    Learned,
    Linked,
    Row,
    Source,
    Superseded,
    bare,
    embedding,
    in_force,
    named,
    occurrences,
    standing,
)
from nous.knowledge.decision import fact_id
from nous.knowledge.normalize import exact_form

FORGOTTEN = "the reason may have quoted what was forgotten, and went with it"
"""Replacement for a reason that may quote erased text."""

Stays = Callable[[UUID, Source], bool]
"""Predicate: may it still be known that a source stated a fact?"""


class Kept(NamedTuple):
    """A row of the new log, and the index of the old row whose vector it keeps, if any."""

    row: Row
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """Result of an erasure: the remaining log, and the affected facts.

    *gone* are facts without a remaining source. *retold* maps facts that were re-attributed to their new ids. *revived*
    are superseded facts that are current again.
    """

    old: Sequence[Row]
    rows: tuple[Kept, ...]
    gone: frozenset[UUID] = frozenset()
    retold: Mapping[UUID, UUID] = field(default_factory=dict[UUID, UUID])
    revived: frozenset[UUID] = frozenset()

    @property
    def has_changed(self) -> bool:
        return [row for row, _ in self.rows] != list(self.old)

    @property
    def lost_rows(self) -> int:
        return len(self.old) - len(self.rows)

    @property
    def lost_vectors(self) -> int:
        old, new = ([row for row in rows if embedding(row)] for rows in (self.old, (each.row for each in self.rows)))
        return len(old) - len(new)

    @property
    def touched(self) -> frozenset[UUID]:
        """Return the facts whose words must no longer be found."""
        return self.gone | self.retold.keys()


def without_session(rows: Sequence[Row], session_id: str) -> Erased:
    return without(rows, lambda _, source: source.session_id != session_id)


def without_fact(rows: Sequence[Row], forgotten: UUID) -> Erased:
    """Erase one fact and all facts that say the same, from every source."""
    gone = alike(rows, forgotten)
    return without(rows, lambda fact, _: fact not in gone)


def reworded(rows: Sequence[Row], change: Callable[[Row], Row]) -> Erased:
    """Rewrite the words of rows by *change*, which keeps ids and sources.

    A fact with another text loses its vectors.
    """
    new = [change(row) for row in rows]
    texts = {row.fact.id: row.fact.text for row in rows if isinstance(row, Learned)}
    changed = {row.fact.id for row in new if isinstance(row, Learned) and row.fact.text != texts[row.fact.id]}
    kept = (
        Kept(bare(row) if isinstance(row, Learned) and row.fact.id in changed else row, at)
        for at, row in enumerate(new)
        if not (isinstance(row, Embedded) and row.fact_id in changed)
    )
    return Erased(old=rows, rows=tuple(kept))


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
        return Erased(old=rows, rows=tuple(Kept(row, at) for at, row in enumerate(rows)))
    now = in_force(rows)
    remains = _remains(filter(None, now), stays)
    touched = {fact for fact, each in remains.items() if each.id != fact}
    tied = {end for row in rows if touched & (ends := named(row)) for end in ends}
    rewriter = _Rewriter(remains, stays, tied | touched, dict(_ways(remains)))
    pairs = enumerate(zip(rows, now, strict=True))
    left = (Kept(row, at) for at, (old, new) in pairs if (row := rewriter(old, new)))
    kept = tuple(sorted(left, key=lambda each: not isinstance(each.row, Learned)))  # a fact may have a later source now
    return Erased(
        old=rows,
        rows=kept,
        gone=frozenset(fact for fact in touched if remains[fact].id is None),
        retold={fact: new for fact in touched if (new := remains[fact].id) is not None},
        revived=_revived(remains, kept),
    )


@dataclass(slots=True)
class _Remains:
    """A fact of the old log, and what becomes of it in the new one.

    *heir* is the confirmation whose source and words it takes over. *now* is its new version, if it has one of its own;
    *id* the fact that stands for it.
    """

    learned: Learned
    again: list[Confirmed] = field(default_factory=list[Confirmed])
    superseded: Superseded | None = None
    heir: Confirmed | None = None
    now: Fact | None = None
    id: UUID | None = None

    @property
    def keeps_text(self) -> bool:
        return self.now is not None and self.now.text == self.learned.fact.text


def _remains(rows: Iterable[Row], stays: Stays) -> dict[UUID, _Remains]:
    remains: dict[UUID, _Remains] = {}
    for row in rows:
        if isinstance(row, Learned):
            remains[row.fact.id] = _Remains(row)
        elif isinstance(row, Confirmed) and row.fact_id in remains:
            remains[row.fact_id].again.append(row)
        elif isinstance(row, Superseded) and row.fact_id in remains:
            each = remains.pop(row.fact_id)  # so that facts end in the order in which they were superseded
            each.superseded = row
            remains[row.fact_id] = each
    for fact, each in remains.items():
        if stays(fact, each.learned.fact.source):
            each.now, each.id = each.learned.fact, fact
    ids = {each.id for each in remains.values()}
    for fact, each in remains.items():
        heir = None if each.id else next((row for row in each.again if stays(fact, row.source)), None)
        if heir is None:
            continue
        version = replace(  # in the words of the heir; other details are not known of this source
            each.learned.fact,
            id=fact_id(heir.source.episode_id, heir.text),
            text=heir.text.strip(),
            subject="",
            source=heir.source,
            learned_at=heir.at,
            event_date=None,
        )
        each.id = version.id
        if version.id not in ids:  # else it was merged with a fact that says the same, which is left now
            each.heir, each.now = heir, version
            ids.add(version.id)
    return remains


def _ways(remains: Mapping[UUID, _Remains]) -> Iterator[tuple[int, Superseded]]:
    """Yield the supersessions of the new log, by `id()` of the old row.

    A fact made of several is current if any of them is. Otherwise it is superseded by the successor of the last of
    them. No cycles result.
    """
    found = [(each, _way(each, remains)) for each in remains.values() if each.id]
    current = {each.id for each, way in found if way is None}
    ends: dict[UUID, UUID] = {}
    for each, way in reversed(found):
        if way and way.fact_id not in current and way.fact_id not in ends and way.fact_id not in _line(way.by, ends):
            ends[way.fact_id] = way.by
            yield id(each.superseded), way


def _line(fact: UUID, ends: Mapping[UUID, UUID]) -> Iterator[UUID]:
    yield fact
    while after := ends.get(fact):
        fact = after
        yield fact


def _way(each: _Remains, remains: Mapping[UUID, _Remains]) -> Superseded | None:
    """Return the supersession of *each* in the new log, by the first successor that is left."""
    seen: set[UUID] = set()
    row, valid_to = each.superseded, None
    while row and row.by not in seen:
        seen.add(row.by)
        valid_to = valid_to or row.valid_to
        successor = remains.get(row.by)
        if successor and successor.id and each.superseded and each.id:
            old, fact, by = each.superseded, each.id, successor.id
            if (fact, by) == (old.fact_id, old.by):
                return old
            return replace(old, fact_id=fact, by=by, reason=FORGOTTEN, similarity=None, valid_to=valid_to)
        row = successor.superseded if successor else None
    return None


def _revived(remains: Mapping[UUID, _Remains], kept: Iterable[Kept]) -> frozenset[UUID]:
    superseded = {each.id for each in remains.values() if each.id and each.superseded}
    stood = {each.id for each in remains.values() if not each.superseded}
    return frozenset(superseded - stood - {row.fact_id for row, _ in kept if isinstance(row, Superseded)})


@dataclass(frozen=True, slots=True)
class _Rewriter:
    """Rewriter from rows of the old log to rows of the new one.

    *suspect* are facts whose reasons may quote erased text. *ways* are the new supersessions, by `id()` of the old row.
    """

    remains: Mapping[UUID, _Remains]
    stays: Stays
    suspect: set[UUID]
    ways: Mapping[int, Superseded]

    def __call__(self, old: Row, now: Row | None) -> Row | None:
        """Return the replacement of *old*, or None to drop it; *now* is its effective form.

        A merge that was undone stays as history while both facts are as they were.
        """
        match now:
            case None:
                return old if all(self._now(fact) == fact for fact in named(old)) else None
            case Learned():
                return self._learned(now)
            case Confirmed():
                return self._confirmed(now)
            case Superseded():
                return self.ways.get(id(now))
            case Linked():
                return self._linked(now)
            case Embedded():
                each = self.remains.get(now.fact_id)
                return replace(now, fact_id=each.now.id) if each and each.now and each.keeps_text else None

    def _learned(self, row: Learned) -> Learned | None:
        each = self.remains[row.fact.id]
        if each.now is None:
            return None
        reason = FORGOTTEN if row.fact.id in self.suspect else row.reason
        return Learned(fact=each.now, reason=reason, embedded_by=row.embedded_by if each.keeps_text else None)

    def _confirmed(self, row: Confirmed) -> Confirmed | None:
        each = self.remains.get(row.fact_id)
        if each is None or each.id is None or row == each.heir or not self.stays(row.fact_id, row.source):
            return None
        merged = self._now(row.merged_from) if row.merged_from else None
        if merged != row.merged_from or merged == each.id:
            row = replace(row, merged_from=None if merged == each.id else merged)
        if each.id == row.fact_id:
            return replace(row, reason=FORGOTTEN) if row.fact_id in self.suspect else row
        owner = self.remains.get(each.id)
        if owner and (owner.learned.fact.source, owner.learned.fact.text) == (row.source, row.text):
            return None
        return replace(row, fact_id=each.id, reason=FORGOTTEN, similarity=None)

    def _linked(self, row: Linked) -> Linked | None:
        one, other = self._now(row.fact_id), self._now(row.other)
        if one is None or other is None or one == other:
            return None
        if (one, other) == (row.fact_id, row.other):
            return row
        return replace(row, fact_id=one, other=other, reason=FORGOTTEN, similarity=None, likelihood=None)

    def _now(self, fact: UUID) -> UUID | None:
        each = self.remains.get(fact)
        return each.id if each else None
