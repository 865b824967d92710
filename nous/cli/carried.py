"""Lines of an export, checked as strictly as what people tell."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import BinaryIO

from nous.cli.candidate import candidate
from nous.clocks import is_ahead, not_ahead
from nous.codec import checked_name
from nous.episode import Episode
from nous.errors import BadInput
from nous.events import episode_id
from nous.fact import Confirmed, Fact, Learned, Linked, Row, Source, Superseded, named, tellings
from nous.scope import Scope
from nous.store.portable import Carried, read

_LONGEST_LINE = 10_000_000

_LONGEST_REASON = 10_000
"""Characters of a reason, which may quote two facts."""


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of *stream*; of one that is too long to be a record, only as much as shows that."""
    while line := stream.readline(_LONGEST_LINE + 1):
        yield line
        while line and not line.endswith(b"\n"):
            line = stream.readline(_LONGEST_LINE)


def usable(lines: Iterable[bytes], complain: Callable[[str], None]) -> Iterator[Carried]:
    """What *lines* carry that can be kept; *complain* is told of each other line, by its number."""
    for number, raw in enumerate(lines, start=1):
        try:
            if said := _short(raw).removeprefix(BOM_UTF8).strip():
                yield _checked(read(said))
        except BadInput as error:
            complain(f"line {number}: {error}")


def in_time(carried: Carried, now: datetime) -> tuple[Carried, int]:
    """*carried*, of which no time by which it is newer than others is far in the future; and how many were."""
    ahead = 0

    def timely(moment: datetime) -> datetime:
        nonlocal ahead
        ahead += is_ahead(moment, now)
        return not_ahead(moment, now)

    def timely_source(source: Source) -> Source:
        return replace(source, said_at=timely(source.said_at)) if source.said_at else source

    match carried.record:
        case Episode() as record:
            began = not_ahead(record.started_at, now) if record.started_at else None
            found: Episode | Row = replace(record, started_at=began, ended_at=timely(record.ended_at))
        case Learned(fact=fact) as record:
            learned_at, source = timely(fact.learned_at), timely_source(fact.source)
            found = replace(record, fact=replace(fact, source=source, learned_at=learned_at))
        case Confirmed() as record:
            found = replace(record, source=timely_source(record.source), at=timely(record.at))
        case Superseded() | Linked() as record:
            found = replace(record, at=timely(record.at))
        case record:
            found = record
    return replace(carried, record=found), ahead


def _short(raw: bytes) -> bytes:
    """*raw*, if that can be a record: reading takes several times its bytes. Raises `BadInput`."""
    if len(raw) > _LONGEST_LINE:
        raise BadInput(f"has more than {_LONGEST_LINE:,} bytes, and no record has that many")
    return raw


def _checked(carried: Carried) -> Carried:
    """*carried*, as far as it can be kept. Raises `BadInput`."""
    owner = _scope_of(carried.record)
    if owner and owner != carried.scope:
        raise BadInput(f"the line is of scope {carried.scope}, its record of {owner}")
    if isinstance(carried.record, Episode):
        checked_name(carried.record.session_id, "session_id")
        checked_name(carried.record.agent_id, "agent_id")
        if carried.record.id != episode_id(carried.scope, carried.record.session_id):
            raise BadInput("its id is not that of its session in this scope, by which it would be forgotten")
        return carried
    _check(carried.record)
    match carried.record:
        case Learned(fact=fact) as row:
            found = candidate(
                {
                    "text": fact.text,
                    "category": fact.category,
                    "subject": fact.subject,
                    "confidence": fact.confidence,
                    "turns": fact.source.turns,
                    "event_date": fact.event_date,
                    "trust": fact.source.trust,
                }
            )
            learnable = replace(fact, text=found.text, category=found.category)
            return replace(carried, record=replace(row, fact=learnable))
        case Confirmed() as row:
            found = candidate({"text": row.text, "turns": row.source.turns})
            return replace(carried, record=replace(row, text=found.text))
        case _:
            return carried


def _check(row: Row) -> None:
    """Raises `BadInput` where *row* says what no log says."""
    for _, source, _ in tellings([row]):
        checked_name(source.session_id, "session_id")
    if isinstance(row, Superseded | Linked) and len(named(row)) == 1:
        raise BadInput("it ties a fact to itself")
    reason = getattr(row, "reason", "")
    if len(reason) > _LONGEST_REASON or not reason.isprintable():
        raise BadInput(f"reason: has at most {_LONGEST_REASON:,} characters, which can be printed")


def _scope_of(record: Episode | Row) -> Scope | None:
    match record:
        case Episode(scope=scope) | Learned(fact=Fact(scope=scope)):
            return scope
        case _:
            return None
