"""Re-attribute the facts of a log after a source is erased, and recompute supersessions."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from nous.domain.fact import Confirmed, Fact, Learned, Row, Source, Superseded, standing
from nous.knowledge.decision import fact_id
from nous.knowledge.normalize import exact_form

Stays = Callable[[UUID, Source], bool]
"""Predicate: may it still be known that a source stated a fact?"""


@dataclass(slots=True)
class ReattributedFact:
    """A fact of the old log, and what becomes of it in the new one.

    *new_source* is the confirmation whose words it takes over. *now* is its new version, if it has one of its own; *id*
    the fact that stands for it. *superseded_at_row* is the index of the row that superseded it in the old log.
    """

    learned: Learned
    again: list[Confirmed] = field(default_factory=list[Confirmed])
    new_source: Confirmed | None = None
    now: Fact | None = None
    id: UUID | None = None
    superseded: Superseded | None = None
    superseded_at_row: int = -1

    @property
    def keeps_text(self) -> bool:
        return self.now is not None and self.now.text == self.learned.fact.text

    @property
    def is_contradicted(self) -> bool:
        return self.superseded is not None and self.superseded.valid_to is not None


class Succession(NamedTuple):
    """Supersession of *fact* by *by* in the new log, derived from *row* of the old log."""

    row: Superseded
    fact: UUID
    by: UUID
    valid_to: datetime | None


def reattribute(rows: Iterable[Row]) -> dict[UUID, ReattributedFact]:
    """Return the facts of *rows*, in order, with the confirmations and supersessions in force."""
    reattributed: dict[UUID, ReattributedFact] = {}
    for at, row in enumerate(standing(rows)):
        match row:
            case Learned():
                reattributed[row.fact.id] = ReattributedFact(row)
            case Confirmed() if row.fact_id in reattributed:
                reattributed[row.fact_id].again.append(row)
            case Superseded() if row.fact_id in reattributed:
                reattributed[row.fact_id].superseded, reattributed[row.fact_id].superseded_at_row = row, at
            case _:
                pass
    return reattributed


def settle(reattributed: Mapping[UUID, ReattributedFact], stays: Stays) -> None:
    """Decide on the new version of each fact; set `new_source`, `now` and `id`."""
    inherited: list[tuple[ReattributedFact, Confirmed]] = []
    for fact, each in reattributed.items():
        if stays(fact, each.learned.fact.source):
            each.now, each.id = each.learned.fact, fact
        elif new_source := next((row for row in each.again if stays(fact, row.source)), None):
            inherited.append((each, new_source))
    if not inherited:
        return
    kept = [each for each in reattributed.values() if each.now]
    ids = {each.now.id for each in kept if each.now}
    owners: dict[str, UUID] = {}
    for each in kept:
        if each.now and not each.is_contradicted:
            owners.setdefault(exact_form(each.now.text), each.now.id)
    for each, new_source in inherited:
        # A contradicted fact is history: a source that says the same today does not become part of it.
        owner = None if each.is_contradicted else owners.get(exact_form(new_source.text))
        version = _in_words_of(each.learned.fact, new_source)
        if owner or version.id in ids:  # it was merged with a fact that says the same, which is left now
            each.id = version.id if version.id in ids else owner
            continue
        each.new_source, each.now, each.id = new_source, version, version.id
        ids.add(version.id)
        if not each.is_contradicted:
            owners[exact_form(new_source.text)] = version.id


def _in_words_of(fact: Fact, new_source: Confirmed) -> Fact:
    """Return *fact* in the words of *new_source*.

    Other details came from the first source; they are not known of this one.
    """
    return replace(
        fact,
        id=fact_id(new_source.source.episode_id, new_source.text),
        text=new_source.text.strip(),
        subject="",
        source=new_source.source,
        learned_at=new_source.at,
        event_date=None,
    )


def places(reattributed: Mapping[UUID, ReattributedFact]) -> Iterator[Succession]:
    """Yield the supersessions of the new log, after `settle`.

    A fact made of several is current if any of them is. Otherwise it is superseded by the successor of the last of
    them. No cycles result.
    """
    current: set[UUID] = set()
    found: list[Succession] = []
    revived: list[tuple[Superseded, Fact]] = []
    for each in sorted(reattributed.values(), key=lambda each: each.superseded_at_row, reverse=True):
        place = _place(each, reattributed)
        if place and place.fact != place.by:
            found.append(place)
        elif each.superseded and each.now and not place:
            revived.append((each.superseded, each.now))
        elif each.id and not place:
            current.add(each.id)
    by_words = _by_same_words(revived, current, reattributed) if revived else []
    current |= {fact.id for _, fact in revived} - {place.fact for place in by_words}
    ends: dict[UUID, UUID] = {}
    for place in (*found, *by_words):
        if place.fact not in current and place.fact not in ends and _end(place.by, ends) != place.fact:
            ends[place.fact] = place.by
            yield place


def _by_same_words(
    revived: Sequence[tuple[Superseded, Fact]], current: Collection[UUID], reattributed: Mapping[UUID, ReattributedFact]
) -> list[Succession]:
    """Return supersessions of revived facts by current facts with the same words.

    Revived facts were superseded by a fact that is erased.
    """
    facts = (each.now for each in reattributed.values() if each.now and each.now.id in current)
    owners = {exact_form(fact.text): fact.id for fact in facts}
    owned = ((row, fact.id, owners.setdefault(exact_form(fact.text), fact.id)) for row, fact in reversed(revived))
    return [Succession(row, fact, owner, None) for row, fact, owner in owned if fact != owner]


def _place(each: ReattributedFact, reattributed: Mapping[UUID, ReattributedFact]) -> Succession | None:
    """Return the supersession of *each* in the new log; None if it is current.

    If its successor is erased, the successor's successor takes over, and so on.
    """
    if each.id is None or each.superseded is None:
        return None
    seen: set[UUID] = set()
    link, valid_to = each.superseded, None
    while link and link.by not in seen:
        seen.add(link.by)
        valid_to = valid_to or link.valid_to
        successor = reattributed.get(link.by)
        if successor and successor.id:
            return Succession(each.superseded, each.id, successor.id, valid_to)
        link = successor.superseded if successor else None
    return None


def _end(start: UUID, ends: dict[UUID, UUID]) -> UUID:
    """Return the last successor of *start*.

    Compresses the path, so that no chain is walked twice.
    """
    passed: list[UUID] = []
    end = start
    while after := ends.get(end):
        passed.append(end)
        end = after
    ends.update(dict.fromkeys(passed, end))
    return end
