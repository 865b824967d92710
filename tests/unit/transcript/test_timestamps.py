from datetime import UTC, datetime

import pytest

from nous.transcript.parsing.values import parse_time

MOMENT = datetime(2026, 2, 3, 0, 25, 13, 595_000, UTC)


@pytest.mark.parametrize(
    "written",
    [
        "2026-02-03T00:25:13.595Z",
        *(f"2026-02-03T00:25:13.595{'0' * digits}Z" for digits in range(1, 7)),
        "2026-02-03T01:25:13.595+01:00",
        "2026-02-03T00:25:13.595",
        1_770_078_313_595,
        1_770_078_313.595,
    ],
)
def test_every_spelling_of_a_moment_is_that_moment_in_utc(written: object) -> None:
    assert parse_time(written) == MOMENT


@pytest.mark.parametrize("written", [None, "", "yesterday", True, [], {}, 1e40, float("nan"), "9999-99-99T00:00:00Z"])
def test_what_is_no_time_is_none(written: object) -> None:
    assert parse_time(written) is None
