"""Lines of an export, checked as strictly as what people tell."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from nous.cli.candidate import candidate
from nous.codec import checked_name
from nous.episode import Episode
from nous.errors import BadInput
from nous.events import episode_id
from nous.fact import Confirmed, Fact, Learned, Linked, Row, Superseded, named, tellings
from nous.scope import Scope
from nous.store.portable import Carried, read

_LONGEST_LINE = 10_000_000

_LONGEST_REASON = 10_000
"""Characters of a reason, which may quote two facts."""


_SKEW = timedelta(days=1)
"""By how much clocks may differ."""


def usable(lines: Iterable[bytes], complain: Callable[[str], None], *, now: datetime) -> Iterator[Carried]:
    """What *lines* carry that can be kept; *complain* is told of each other line, by its number."""
    for number, raw in enumerate(lines, start=1):
        try:
            if said := _short(raw).removeprefix(BOM_UTF8).strip():
                carried = read(said)
                _check_times(carried.record, now)
                yield _checked(carried)
        except BadInput as error:
            complain(f"line {number}: {error}")


def _short(raw: bytes) -> bytes:
    """*raw*, if that can be a record: reading takes several times its bytes. Raises `BadInput`."""
    if len(raw) > _LONGEST_LINE:
        raise BadInput(f"has {len(raw):,} bytes, and no record has more than {_LONGEST_LINE:,}")
    return raw


def _checked(carried: Carried) -> Carried:
    """*carried*, as far as it can be kept. Raises `BadInput`."""
    owner = _scope_of(carried.record)
    if owner and owner != carried.scope:
        raise BadInput(f"the line is of scope {carried.scope}, its record of {owner}")
    if isinstance(carried.record, Episode):
        checked_name(carried.record.session_id, "session_id")
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


def _check_times(record: Episode | Row, now: datetime) -> None:
    """Raises `BadInput` where something was said in the future: it would be the latest word until then."""
    for name, moment in _times(record):
        if moment and (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) > now + _SKEW:
            told = f"{moment:%Y-%m-%d %H:%M} is in the future, here it is {now:%Y-%m-%d %H:%M}"
            raise BadInput(f"{name}: {told}; correct the line, or the clock")


def _times(record: Episode | Row) -> Iterator[tuple[str, datetime | None]]:
    """By name, the times by which *record* is newer or older than others."""
    match record:
        case Episode():
            yield "ended_at", record.ended_at
        case Learned(fact=fact):
            yield from (("said_at", fact.source.said_at), ("learned_at", fact.learned_at))
        case Confirmed():
            yield from (("said_at", record.source.said_at), ("at", record.at))
        case _:
            pass


def _scope_of(record: Episode | Row) -> Scope | None:
    match record:
        case Episode(scope=scope) | Learned(fact=Fact(scope=scope)):
            return scope
        case _:
            return None
