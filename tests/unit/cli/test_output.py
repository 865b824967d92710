"""One renderer: records as a table, as lines or as JSON."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest
from builders.episodes import episode

from nous.bus.accounting import EventLocation, EventStatus
from nous.bus.base import Priority, PublishReceipt
from nous.cli import output
from nous.cli.dead_letters import origin
from nous.cli.memory_text import episode_lines
from nous.cli.output import counted, fitted, in_words, render, render_table, table
from nous.cli.publish import troubles
from nous.cli.status import headline, sections, verdict
from nous.domain.episode import Lesson
from nous.domain.events import SessionEnded
from nous.services.publisher import Published
from nous.services.session_lifecycle import ChainStep

LONG = "word " * 40 + "end"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "transport: openai:m at there gave no answer",
            "the model could not be reached: openai:m at there gave no answer",
        ),
        ("parse", "the model's answer could not be used"),
        (
            "attempt 2 is waiting, 0 errors (ModelPaused: openai:m is out)",
            "attempt 2 is waiting, 0 errors (openai:m is out)",
        ),
    ],
)
def test_reasons_that_are_kept_for_programs_are_told_in_words(reason: str, words: str) -> None:
    assert in_words(reason) == words


def test_one_is_not_told_as_many() -> None:
    assert [counted(number, "file") for number in (1, 0, 1200)] == ["1 file", "0 files", "1,200 files"]


def test_a_table_has_the_chosen_columns_and_a_mark_where_there_is_nothing() -> None:
    rows = [
        {"last_active": datetime(2026, 3, 1, tzinfo=UTC), "queues": ("a", "b"), "hidden": 1, "session": "s1"},
        {"last_active": None, "queues": (), "hidden": 2, "session": "x\nresolved  99 facts  forged"},
    ]

    assert table(rows, {"last_active": "last active", "queues": "queues", "session": "session"}).splitlines() == [
        "last active              queues  session",
        "2026-03-01 00:00:00 UTC  a, b    s1",
        "-                                x resolved  99 facts  forged",
    ]


def test_nothing_is_cut_unless_it_is_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"outcome": "resolved", "session": LONG}]
    assert table(rows, ("outcome", "session")).endswith(LONG)
    assert fitted(LONG, beside=10) == LONG

    monkeypatch.setattr(output.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")

    assert max(map(len, table(rows, ("outcome", "session")).splitlines())) == 80
    assert len(fitted(LONG, beside=10)) == 70


def test_json_is_made_of_anything_and_text_is_not_computed_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    def lines() -> Iterator[str]:
        raise AssertionError
        yield ""

    render((each for each in ({"at": datetime(2026, 3, 1, tzinfo=UTC)},)), lines(), as_json=True)

    assert json.loads(capsys.readouterr().out) == [{"at": "2026-03-01T00:00:00+00:00"}]


def test_that_there_is_nothing_is_said_to_people_only(capsys: pytest.CaptureFixture[str]) -> None:
    for as_json in (False, True):
        render_table([], ("a",), as_json=as_json, empty="nothing is there")

    assert capsys.readouterr().out == "nothing is there\n[]\n"


WHY = "BadInput: /home/ann/a.txt is gone, or on another host: publish it again with its content uploaded"


def test_all_of_the_reason_is_told_of_what_failed_with_its_session_and_of_what_is_late_how_many(
    ended: Callable[..., SessionEnded],
) -> None:
    stages = {"a": (EventStatus.DONE, ""), "b": (EventStatus.DEAD, WHY), "c": (EventStatus.IN_FLIGHT, "")}
    submitted: list[tuple[str, Published]] = []
    chains: dict[UUID, list[ChainStep]] = {}
    for session, (where, why) in stages.items():
        event = ended(session)
        receipt = PublishReceipt(event.id, event.session_id, Priority.LIVE, "1-0", fresh=True)
        submitted.append((f"{session}.txt", Published(event=event, receipt=receipt)))
        location = EventLocation(where=where, reason=why)
        chains[event.id] = [ChainStep(worker="episode-summarizer", event_id=event.id, location=location)]

    assert list(troubles(submitted, chains)) == [
        f"b.txt, session b: dead: {WHY}",
        "1 not finished yet; `nous status SESSION` shows where it is",
    ]


NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_credentials_are_masked_where_people_put_them() -> None:
    raw = orjson.dumps(
        {"source": "password=hunter22", "data": {"session_id": "s", "transcript": "a", "scope": "a/b/c"}}
    )

    found = origin(raw, "session_ended", at=NOW)

    assert (found["source"], found["scope"], found["time"]) == ("password=[secret:password]", "a/b/c", str(NOW))
    assert "transcript" not in found


@pytest.mark.parametrize("raw", [b"tell my boss", b"[1]", 20_000_000])
def test_what_is_no_event_or_too_large_comes_from_nowhere(raw: bytes | int) -> None:
    assert origin(raw, "session_ended", at=NOW) == {}


def test_each_line_of_an_episode_is_told_once_and_a_line_break_forges_none() -> None:
    because = "It is a\nb"
    shown = episode()
    threads = (because, "The tests are still red.")
    summary = shown.summary.teaching([Lesson("Clocks drift.", (2, 4))])
    summary = replace(summary, title="a\nb", outcome_rationale=because, open_threads=threads)

    told = list(episode_lines(replace(shown, summary=summary, dataref="file:///x%0A%E2%80%A8y")))

    assert {"  from /x y", "  - Clocks drift. (turn 2, 4)"} <= {*told}
    assert "  open: The tests are still red." in told
    assert sum("It is a b" in line for line in told) == 1
    assert not any("\n" in line for line in told)


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
