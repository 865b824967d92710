"""Lines of an export, as far as they can be kept: each is refused alone."""

from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from builders.episodes import HOME, episode
from builders.fact_rows import learned

from nous.cli.import_ import in_time, lines_of, usable
from nous.domain.episode import Episode
from nous.domain.fact import Confirmed, Learned, Row
from nous.store.export_format import ExportedRecords, line

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
PORT = learned("The API is on port 8080", embedded_by=None)


def fact(*, said_at: datetime | None = NOW, learned_at: datetime = NOW, event_date: str | None = None) -> Learned:
    source = replace(PORT.fact.source, said_at=said_at)
    return replace(PORT, fact=replace(PORT.fact, source=source, learned_at=learned_at, event_date=event_date))


def again(*, said_at: datetime) -> Confirmed:
    source = replace(PORT.fact.source, said_at=said_at)
    return Confirmed(fact_id=PORT.fact.id, source=source, text=PORT.fact.text, reason="", at=NOW)


def complaints(*records: Episode | Row) -> Sequence[str]:
    """What is said of *records*, between which and after which stands one that can be used."""
    found: list[str] = []
    lines = [line(ExportedRecords(HOME, each)) for record in records for each in (record, fact())]
    assert len(list(usable(lines, found.append))) == len(lines) - len(found)
    return found


def timely(record: Episode | Row) -> tuple[Episode | Row, int]:
    """*record* as it is taken, and how many of its times were taken as now."""
    carried, ahead = in_time(ExportedRecords(HOME, record), NOW)
    return carried.record, ahead


@pytest.mark.parametrize(
    ("record", "taken", "ahead"),
    [
        (fact(said_at=NOW + 2 * DAY), fact(), 1),
        (fact(said_at=None, learned_at=NOW + 2 * DAY), fact(said_at=None), 1),
        (fact(said_at=NOW + 2 * DAY, learned_at=NOW + 3 * DAY), fact(), 2),
        (fact(said_at=(NOW + 2 * DAY).replace(tzinfo=None)), fact(), 1),
        (again(said_at=NOW + 2 * DAY), again(said_at=NOW), 1),
        (replace(episode("late"), ended_at=NOW + 2 * DAY), replace(episode("late"), ended_at=NOW), 1),
    ],
)
def test_what_was_said_in_the_future_is_taken_as_said_now_and_counted(
    record: Episode | Row, taken: Episode | Row, ahead: int
) -> None:
    assert complaints(record) == []
    assert timely(record) == (taken, ahead)


@pytest.mark.parametrize(
    "record", [fact(said_at=NOW + DAY), again(said_at=NOW + DAY), replace(episode(), ended_at=NOW + DAY)]
)
def test_clocks_may_differ_by_a_day(record: Episode | Row) -> None:
    assert timely(record) == (record, 0)


@pytest.mark.parametrize("date", ["0000", "0000-01", "2026-13", "2026-02-30", "\uff12\uff10\uff12\uff16", "soon"])
def test_a_date_that_there_is_not_is_refused(date: str) -> None:
    [complaint] = complaints(fact(event_date=date))

    assert complaint.startswith(f"line 1: event_date: {date!r} is no day, month or year")


@pytest.mark.parametrize("date", ["2026", "2026-03", "2026-03-01", "2026-03-01T12:00:00Z", None])
def test_a_date_or_a_part_of_one_is_taken(date: str | None) -> None:
    assert complaints(fact(event_date=date)) == []


def test_a_file_may_begin_with_a_mark_of_its_byte_order() -> None:
    found: list[str] = []
    written = line(ExportedRecords(HOME, fact()))

    assert len(list(usable([BOM_UTF8 + written, BOM_UTF8 + b"\n", written], found.append))) == 2
    assert found == []


def test_a_line_that_is_too_long_for_a_record_is_refused_by_its_length() -> None:
    found: list[str] = []

    assert (
        len(list(usable([b'"' + b"x" * 10_000_000 + b'"\n', line(ExportedRecords(HOME, fact()))], found.append))) == 1
    )
    assert found == ["line 1: has more than 10,000,000 bytes, and no record has that many"]


def test_of_a_line_too_long_no_more_is_read_into_memory_than_shows_that() -> None:
    endless = b"x" * 35_000_000

    lines = list(lines_of(BytesIO(b"one\n" + endless + b"\ntwo\n" + endless)))

    assert [len(line) for line in lines] == [4, 10_000_001, 4, 10_000_001]
