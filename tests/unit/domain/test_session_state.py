"""Up to when an end speaks for its session, whatever times its producer told."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nous.domain.session_state import covered_by_episode

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)


@pytest.mark.parametrize("ended_at", [LAST, LAST - timedelta(seconds=30), NOW + timedelta(days=30)])
@pytest.mark.parametrize("time", [NOW, LAST])
def test_an_end_that_was_said_to_come_in_years_covers_all_until_it_was_said(
    ended: Any, time: datetime, ended_at: datetime
) -> None:
    assert covered_by_episode(ended(time=time, ended_at=ended_at, dataref=None), now=NOW) == NOW


@pytest.mark.parametrize(("seconds", "covers"), [(3600, 3540), (60, 0), (59, 0), (0, 0), (-3600, 0)])
def test_what_was_sent_along_covers_a_minute_more_than_its_last_entry(ended: Any, seconds: int, covers: int) -> None:
    end = ended(time=NOW, ended_at=NOW - timedelta(seconds=seconds), dataref=None)

    assert covered_by_episode(end, now=NOW) == NOW - timedelta(seconds=covers)
