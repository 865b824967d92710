"""What a file is to a sweep, by its time and size alone."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nous.bus.base import Priority
from nous.services.folder_watch import (
    FileOutcome,
    SessionFile,
    SweepReport,
    WatchRules,
    decide,
    lane_of,
)
from nous.store.folder_state import FileRecord

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


@given(
    mtime_ns=st.integers(-(2**63), 2**63 - 1),
    size=st.integers(0, 2**63),
    remembered=st.none() | st.builds(FileRecord, st.integers(), st.integers(), st.none() | st.text(), st.integers()),
)
def test_any_file_is_one_of_these_and_handing_it_over_makes_it_known(
    mtime_ns: int, size: int, remembered: FileRecord | None
) -> None:
    any_file = SessionFile(FILE, size, mtime_ns)

    assert decide(any_file, remembered, NOW, rules=RULES) in {None, *FileOutcome}
    assert decide(any_file, any_file.told(), NOW, rules=RULES) is FileOutcome.KNOWN
    assert decide(any_file, any_file.refused(""), NOW, rules=RULES) is FileOutcome.REFUSED_BEFORE
    assert lane_of(any_file, NOW) in set(Priority)


@given(st.dictionaries(st.sampled_from(FileOutcome), st.integers(0, 99)))
def test_what_is_told_of_a_sweep_adds_up(fates: dict[FileOutcome, int]) -> None:
    told = str(SweepReport(Counter(fates)))

    seen, rest = told.split(" seen: ")
    assert int(seen) == sum(int(each.split(" ")[0]) for each in rest.split(", ")) == sum(fates.values())


def test_a_sweep_of_nothing_tells_the_usual_counts() -> None:
    assert str(SweepReport()) == "0 seen: 0 handed over, 0 known, 0 still going, 0 past, 0 refused"
