"""What a file is to a sweep, by its time and size alone."""

from pathlib import Path

import pytest

from nous.bus.base import Priority
from nous.services.folder_watch import (
    FileOutcome,
    SessionFile,
    WatchRules,
    decide,
    lane_of,
)

NOW = 1_800_000_000.0
HOUR, DAY = 3600.0, 86400.0
RULES = WatchRules(idle=HOUR, since=30 * DAY)
FILE = Path("/sessions/one.jsonl")


def found(age: float, *, size: int = 100, changed_ns: int = 5) -> SessionFile:
    return SessionFile(FILE, size, round((NOW - age) * 1e9), changed_ns)


@pytest.mark.parametrize(
    ("age", "verdict"),
    [
        (0, FileOutcome.GOING),
        (HOUR - 1, FileOutcome.GOING),
        (HOUR, None),
        (30 * DAY, None),
        (30 * DAY + 1, FileOutcome.PAST),
        (-HOUR, FileOutcome.GOING),
        (-2 * DAY, None),
    ],
    ids=["just now", "a moment too early", "idle", "the oldest", "past", "of a clock ahead", "of a clock gone wrong"],
)
def test_a_file_is_judged_by_how_long_nobody_wrote_to_it(age: float, verdict: FileOutcome | None) -> None:
    assert decide(found(age), None, NOW, rules=RULES) is verdict


def test_a_refused_file_is_looked_at_again_only_when_anything_about_it_has_changed() -> None:
    refused = found(2 * HOUR).refused("")

    assert decide(found(2 * HOUR), refused, NOW, rules=RULES) is FileOutcome.REFUSED_BEFORE
    assert decide(found(2 * HOUR, size=101), refused, NOW, rules=RULES) is None
    assert decide(found(2 * HOUR, changed_ns=6), refused, NOW, rules=RULES) is None
    assert decide(found(2 * HOUR, changed_ns=6), found(2 * HOUR).told(), NOW, rules=RULES) is FileOutcome.KNOWN
    assert decide(found(2 * HOUR, size=99), found(2 * HOUR).told(), NOW, rules=RULES) is None


def test_sessions_of_today_are_live_and_older_ones_come_behind() -> None:
    assert [lane_of(found(age), NOW) for age in (HOUR, DAY, DAY + 1)] == [Priority.LIVE, Priority.LIVE, Priority.BULK]
