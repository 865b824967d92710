"""What `nous status` makes of its figures."""

import re
from typing import Any

import pytest

from nous.cli.status import headline, sections, verdict

NO_HOOKS: dict[str, Any] = {"waiting": 0, "rejected": 0, "failed_at": None}
WELL: dict[str, Any] = {
    "groups": {"toy": {"balance": 0, "why": "", "skipped_reasons": {}}},
    "dead": False,
    "streams": [],
    "queues": [],
    "workers": [{"state": "idle", "pid": 1, "queues": ("toy",), "name": "w"}],
    "unattended": [],
    "model": {
        "problem": None,
        "calls": {},
        "facts": {},
        "out": {},
        "tokens_today": [],
        "daily_tokens": 0,
        "to_be_made_anew": 0,
    },
    "cannot_write": None,
    "hooks": NO_HOOKS,
}


def test_where_nothing_is_wrong_it_says_so() -> None:
    assert verdict(WELL) == ["the counters reconcile, and nothing is dead"]


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ({"hooks": NO_HOOKS | {"rejected": 1}}, "`nous doctor`"),
        ({"hooks": NO_HOOKS | {"failed_at": 1.0}}, "`nous doctor`"),
        ({"dead": True}, "`nous dead-letters list`"),
        ({"unattended": ["a", "b"]}, "work waits for a, b, and no process dispatches it: nous worker a b"),
        ({"cannot_write": "MISCONF"}, "until it can: MISCONF"),
        ({"groups": {"toy": {"balance": 2, "why": "2 too many"}}}, "the counters of toy do not reconcile: 2 too many"),
    ],
    ids=["rejected", "hook failed", "dead", "unattended", "cannot write", "balance"],
)
def test_what_is_wrong_is_said_with_what_to_do_and_nothing_else(what: dict[str, Any], told: str) -> None:
    [line] = verdict(WELL | what)

    assert told in line


def test_where_no_worker_runs_at_all_none_is_asked_for_by_name() -> None:
    assert verdict(WELL | {"workers": [], "unattended": ["a"]}) == ["no worker runs: nous up", *verdict(WELL)]


def test_what_never_had_anything_takes_no_line() -> None:
    counts = {"queued": 0, "started": 0, "finished": 0, "failed": 0}
    stream = {"type": "x", "lane": "live", "length": 0, "waiting": 0, "pending": 0, "group": "toy"}
    empty = {"queues": [{"name": "still", **counts}], "streams": [stream]}
    busy = {"queues": [{"name": "busy", **counts, "failed": 1}], "streams": [stream | {"waiting": None}]}
    groups = {"groups": {"toy": _account()}, "total": _account()}

    assert "\n\n".join(sections(WELL | groups | empty)) == "\n\n".join(sections(WELL | groups))
    said = "\n\n".join(sections(WELL | groups | busy))
    assert "busy" in said
    assert re.search(r"^x +live +0 +- +0 +toy$", said, re.MULTILINE)


def test_the_headline_counts_what_is_known_and_names_what_is_left() -> None:
    report = {"total": {**_account(), "in_flight": 1}, "streams": [], "dead": 0, "parked": 0, "hooks": NO_HOOKS}

    assert headline(report, 2, 3) == "2 sessions, 3 facts: 1 in flight"


def _account() -> dict[str, Any]:
    columns = ("received", "done", "skipped", "dead", "erased", "parked", "in_flight", "balance")
    return {**dict.fromkeys(columns, 0), "why": "", "skipped_reasons": {}}
