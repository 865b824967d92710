"""Lines of an export, as far as they can be kept: each is refused alone."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from builders.episodes import HOME
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
    assert len(list(usable(BytesIO(b"".join(lines)), found.append))) == len(lines) - len(found)
    return found


def test_a_record_of_another_scope_than_its_line_is_refused() -> None:
    found: list[str] = []
    raw = line(ExportedRecords(Scope(project="elsewhere"), fact()))

    assert list(usable(BytesIO(raw), found.append)) == []
    assert found == [f"line 1: the line is of scope default/default/elsewhere, its record of {HOME}"]


@pytest.mark.parametrize(("date", "is_one"), [("2026-13", False), ("soon", False), ("2026-03", True), (None, True)])
def test_only_a_date_or_a_part_of_one_is_taken(date: str | None, *, is_one: bool) -> None:
    refused = complaints(fact(event_date=date))

    assert [each.startswith(f"line 1: event_date: {date!r} is no day") for each in refused] == [True] * (not is_one)


def test_a_line_that_is_too_long_for_a_record_ends_the_import_before_it_fills_the_memory() -> None:
    endless = BytesIO(b"\n" + b"x" * 35_000_000)

    with pytest.raises(BadInput, match="line 2 has more than 10,000,000 bytes, and no record has that many"):
        list(usable(endless, lambda _: None))

    assert endless.tell() == 10_000_002
