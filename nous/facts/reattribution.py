"""Facts of a log as they are told when somebody who said them is forgotten, and which of them take whose place then."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from nous.domain.fact import Confirmed, Fact, Learned, Row, Source, Superseded, standing
from nous.facts.decision import fact_id
from nous.facts.normalize import exact_form

Stays = Callable[[UUID, Source], bool]
"""Whether it may still be known that a source has said a fact."""


@dataclass(slots=True)
class Told:
    """A fact as the old log tells it, and what becomes of it: *now* is its new self, *id* what it goes by.

    It gave way in the log's *gave_way*-th row.
    """

    learned: Learned
    again: list[Confirmed] = field(default_factory=list[Confirmed])
    heir: Confirmed | None = None
    now: Fact | None = None
    id: UUID | None = None
    superseded: Superseded | None = None
    gave_way: int = -1

    @property
    def keeps_text(self) -> bool:
        return self.now is not None and self.now.text == self.learned.fact.text

    @property
    def is_contradicted(self) -> bool:
        return self.superseded is not None and self.superseded.valid_to is not None


class Place(NamedTuple):
    """*fact* of the new log gives way to *by*, as *row* of the old log says."""

    row: Superseded
    fact: UUID
    by: UUID
    valid_to: datetime | None


def tell(rows: Iterable[Row]) -> dict[UUID, Told]:
    """The facts that *rows* tell, in order, as far as they stand."""
    told: dict[UUID, Told] = {}
    for at, row in enumerate(standing(rows)):
        match row:
            case Learned():
                told[row.fact.id] = Told(row)
            case Confirmed() if row.fact_id in told:
                told[row.fact_id].again.append(row)
            case Superseded() if row.fact_id in told:
                told[row.fact_id].superseded, told[row.fact_id].gave_way = row, at
            case _:
                pass
    return told


def settle(told: Mapping[UUID, Told], stays: Stays) -> None:
    """Say of each fact what it is from now on."""
    inherited: list[tuple[Told, Confirmed]] = []
    for fact, each in told.items():
        if stays(fact, each.learned.fact.source):
            each.now, each.id = each.learned.fact, fact
        elif heir := next((row for row in each.again if stays(fact, row.source)), None):
            inherited.append((each, heir))
    if not inherited:
        return
    kept = [each for each in told.values() if each.now]
    ids = {each.now.id for each in kept if each.now}
    owners: dict[str, UUID] = {}
    for each in kept:
        if each.now and not each.is_contradicted:
            owners.setdefault(exact_form(each.now.text), each.now.id)
    for each, heir in inherited:
        # What was contradicted is history, and nobody who says its words today becomes part of that.
        owner = None if each.is_contradicted else owners.get(exact_form(heir.text))
        retold = _retold(each.learned.fact, heir)
        if owner or retold.id in ids:  # it was merged with one that says the same: now that one is left
            each.id = retold.id if retold.id in ids else owner
            continue
        each.heir, each.now, each.id = heir, retold, retold.id
        ids.add(retold.id)
        if not each.is_contradicted:
            owners[exact_form(heir.text)] = retold.id


def _retold(fact: Fact, heir: Confirmed) -> Fact:
    """*fact* in the words of *heir*. What else the first source has said of it is not known of this one."""
    return replace(
        fact,
        id=fact_id(heir.source.episode_id, heir.text),
        text=heir.text.strip(),
        subject="",
        source=heir.source,
        learned_at=heir.at,
        event_date=None,
    )


def places(told: Mapping[UUID, Told]) -> Iterator[Place]:
    """Which fact gives way to which, once all is settled.

    One that was made of several is current if any of them is; else it gives way to what the last of them gave way to.
    Nothing comes round to itself.
    """
    current: set[UUID] = set()
    found: list[Place] = []
    revived: list[tuple[Superseded, Fact]] = []
    for each in sorted(told.values(), key=lambda each: each.gave_way, reverse=True):
        place = _place(each, told)
        if place and place.fact != place.by:
            found.append(place)
        elif each.superseded and each.now and not place:
            revived.append((each.superseded, each.now))
        elif each.id and not place:
            current.add(each.id)
    meanwhile = _said_meanwhile(revived, current, told) if revived else []
    current |= {fact.id for _, fact in revived} - {place.fact for place in meanwhile}
    ends: dict[UUID, UUID] = {}
    for place in (*found, *meanwhile):
        if place.fact not in current and place.fact not in ends and _end(place.by, ends) != place.fact:
            ends[place.fact] = place.by
            yield place


def _said_meanwhile(
    revived: Sequence[tuple[Superseded, Fact]], current: Collection[UUID], told: Mapping[UUID, Told]
) -> list[Place]:
    """What gave way to something that is gone gives way to the one that says the same now, if one does."""
    facts = (each.now for each in told.values() if each.now and each.now.id in current)
    owners = {exact_form(fact.text): fact.id for fact in facts}
    owned = ((row, fact.id, owners.setdefault(exact_form(fact.text), fact.id)) for row, fact in reversed(revived))
    return [Place(row, fact, owner, None) for row, fact, owner in owned if fact != owner]


def _place(each: Told, told: Mapping[UUID, Told]) -> Place | None:
    """What *each* gives way to: where that is gone, what had taken its place, and so on; None where it is current."""
    if each.id is None or each.superseded is None:
        return None
    seen: set[UUID] = set()
    link, valid_to = each.superseded, None
    while link and link.by not in seen:
        seen.add(link.by)
        valid_to = valid_to or link.valid_to
        successor = told.get(link.by)
        if successor and successor.id:
            return Place(each.superseded, each.id, successor.id, valid_to)
        link = successor.superseded if successor else None
    return None


def _end(start: UUID, ends: dict[UUID, UUID]) -> UUID:
    """Where *start* leads at last. What lies on the way leads straight there from now on: no chain is walked twice."""
    passed: list[UUID] = []
    end = start
    while after := ends.get(end):
        passed.append(end)
        end = after
    ends.update(dict.fromkeys(passed, end))
    return end
