"""Lines of an export, as far as they can be kept: each is refused alone."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from builders.episodes import HOME, episode
from builders.fact_rows import learned

from nous.cli.export_import import usable
from nous.domain.episode import Episode
from nous.domain.errors import BadInput
from nous.domain.fact import Confirmed, Learned, Row
from nous.domain.scope import Scope
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
    assert len(list(usable(BytesIO(b"".join(lines)), found.append, now=NOW))) == len(lines) - len(found)
    return found


@pytest.mark.parametrize(
    "late",
    [
        fact(said_at=NOW + 2 * DAY),
        fact(said_at=None, learned_at=NOW + 2 * DAY),
        again(said_at=NOW + 2 * DAY),
        replace(episode("late"), ended_at=NOW + 2 * DAY),
    ],
)
def test_what_was_said_in_the_future_is_refused(late: Episode | Row) -> None:
    assert complaints(late) == ["line 1: a time in it is in the future, so it would outrank all others until then"]


def test_clocks_may_differ_by_a_day() -> None:
    assert complaints(fact(said_at=NOW + DAY), again(said_at=NOW + DAY), replace(episode(), ended_at=NOW + DAY)) == []


def test_a_record_of_another_scope_than_its_line_is_refused() -> None:
    found: list[str] = []
    raw = line(ExportedRecords(Scope(project="elsewhere"), fact()))

    assert list(usable(BytesIO(raw), found.append, now=NOW)) == []
    assert found == [f"line 1: the line is of scope default/default/elsewhere, its record of {HOME}"]


@pytest.mark.parametrize(("date", "is_one"), [("2026-13", False), ("soon", False), ("2026-03", True), (None, True)])
def test_only_a_date_or_a_part_of_one_is_taken(date: str | None, *, is_one: bool) -> None:
    refused = complaints(fact(event_date=date))

    assert [each.startswith(f"line 1: event_date: {date!r} is no day") for each in refused] == [True] * (not is_one)


def test_a_line_that_is_too_long_for_a_record_ends_the_import_before_it_fills_the_memory() -> None:
    endless = BytesIO(b"\n" + b"x" * 35_000_000)

    with pytest.raises(BadInput, match="line 2 has more than 10,000,000 bytes, and no record has that many"):
        list(usable(endless, lambda _: None, now=NOW))

    assert endless.tell() == 10_000_002
