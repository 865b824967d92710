"""What is no fact because the session went on: what was put right, what was changed, what was told of the work."""

from collections.abc import Callable
from typing import Any

import pytest

from nous.summary.evidence import Evidence
from nous.summary.facts import candidate_facts
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]

ROOT = ("user", "Saving in `cache.py` is broken, it still fails.")
CAUSE = "`load_all` writes the pages twice because the watcher calls it as well."
LIMIT = "`load_all` must hold the lock because pages are lost."
WIDE = "`parse_args` takes the first match instead of the longest one in `rules.toml`."


def edit(path: str, new: str) -> tuple[str, str, dict[str, Any]]:
    return "tool_call", "Edit", {"tool": "Edit", "tool_input": {"file_path": path, "new_string": new}}


def texts(told: Told, *entries: tuple[Any, ...]) -> list[str]:
    return [fact.text for fact in candidate_facts(Evidence(told(*entries)))]


def test_why_something_failed_is_known_until_it_is_put_right(told: Told) -> None:
    found = ROOT, ("assistant", CAUSE)
    later = ("user", "Mend it."), edit("watcher.py", "run()"), ("assistant", "Mended.")

    assert texts(told, *found) == [CAUSE]
    assert texts(told, *found, *later) == []


def test_what_must_be_outlasts_what_it_was_found_with(told: Told) -> None:
    assert texts(told, ROOT, ("assistant", LIMIT), edit("watcher.py", "run()")) == [LIMIT]


def test_how_a_thing_is_holds_unless_it_is_changed_after_that(told: Told) -> None:
    asked, change = ("user", "How does it work?"), edit("args.py", "def parse_args(): ...")

    assert texts(told, asked, change, ("assistant", WIDE)) == [WIDE]
    assert texts(told, asked, ("assistant", WIDE), change) == []


@pytest.mark.parametrize(
    "lead",
    ["## Fixes applied", "### Issues found", "Here is the root cause chain:", "**Changes:**", "What I changed:"],
)
def test_what_stands_under_a_report_of_the_work_is_no_finding(told: Told, lead: str) -> None:
    assert texts(told, ("user", "Go on."), ("assistant", f"{lead}\n\n1. {LIMIT}")) == []


@pytest.mark.parametrize(("lead", "told_of"), [("Now we have:", 0), ("The colours in `theme.json`:", 1)])
def test_an_item_of_a_list_is_known_where_it_is_told_what_is_listed(told: Told, lead: str, told_of: int) -> None:
    item = "`toolTitle` - used for the heads of calls, and by default it is `gray` as the text is."

    assert len(texts(told, ("user", "Which?"), ("assistant", f"{lead}\n\n- {item}"))) == told_of


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("When the text is long, the `mode` is always ignored because it costs time.", False),
        ("Padding lines are always `' '` because the `width` has to be kept.", False),
        ("Lines in `pad.ts` are now blanks instead of empty, because of the `width`.", False),
        ("When the text is long, `wrapMode` is always ignored because it costs time.", True),
        ("The worker always needs `redis` because it keeps the queue.", True),
    ],
)
def test_a_finding_has_a_name_that_is_not_called_so_anywhere(told: Told, said: str, known: bool) -> None:  # noqa: FBT001
    assert texts(told, ("user", "Go on."), ("assistant", said)) == ([said] if known else [])


@pytest.mark.parametrize(
    ("result", "told_of"),
    [
        ("ok   cli/store  1.2s\n?    cli  [no test files]", 1),
        ("ok   cli/store  0.1s [no tests to run]", 0),
        ("collected 0 items", 0),
        ("running 0 tests\n\ntest result: ok. 0 passed", 0),
        ("running 0 tests\nrunning 12 tests\n12 passed", 1),
    ],
)
def test_tests_are_run_by_a_command_that_ran_some(told: Told, result: str, told_of: int) -> None:
    command = "tool_call", "make test", {"tool": "Bash", "call_id": "1", "tool_input": {"command": "make test"}}

    found = texts(told, ("user", "Test it."), command, ("tool_result", result, {"call_id": "1"}))

    assert found == ["Tests are run with `make test`."] * told_of


def test_what_the_agent_takes_back_is_no_finding(told: Told) -> None:
    said = ("user", "Why is it slow?"), ("assistant", WIDE), ("user", "No, it takes the longest.")

    assert texts(told, *said, ("assistant", "You are right, I misread it.")) == []
    assert texts(told, *said, ("assistant", "It takes the first in all cases.")) == [WIDE]


@pytest.mark.parametrize(
    ("reply", "admitted"),
    [
        ("I think it has nothing to do with DNS.", "You're right, DNS is not at fault."),
        ("Are you sure?", "You're right to ask. I looked again."),
        ("Makes sense, so the first match of parse_args counts.", "You're right, the first match counts."),
    ],
)
def test_what_the_agent_admits_of_something_else_takes_nothing_back(told: Told, reply: str, admitted: str) -> None:
    said = ("user", "Why is it slow?"), ("assistant", WIDE), ("user", reply)

    assert texts(told, *said, ("assistant", admitted)) == [WIDE]


@pytest.mark.parametrize(
    "said",
    [
        "`handle_before` used `input.session_id` directly while `handle_after` used `current_session()` instead.",
        "The state machine emitted `Condense`, but the action was never dispatched because `run()` returned early.",
        "Root cause: `touch_session()` updates stale sessions on every commit, since `phase` is empty.",
        "The relevant flags are `force_hooks`, `skip_push` and `--telemetry`, because they default to true.",
        "Since lines of `log.jsonl` cannot be split, the correct approach is to return an error.",
    ],
)
def test_what_a_thing_did_or_is_to_do_is_not_how_it_is(told: Told, said: str) -> None:
    assert texts(told, ("user", "Look into it."), ("assistant", said)) == []
    assert texts(told, ("user", "Look into it."), ("assistant", WIDE)) == [WIDE]


@pytest.mark.parametrize(
    ("reply", "admitted"),
    [
        ("Are you sure?", "I apologize for the confusion. It takes the longest match."),
        ("No, it takes the longest match.", "Understood, I will keep to that."),
        ("Look once more at `parse_args`.", "I was wrong: `parse_args` takes the longest match."),
    ],
)
def test_what_the_agent_gives_up_in_other_words_is_no_finding(told: Told, reply: str, admitted: str) -> None:
    said = ("user", "Why is it slow?"), ("assistant", WIDE), ("user", reply)

    assert WIDE not in texts(told, *said, ("assistant", admitted))


def test_what_the_agent_admits_some_turns_later_is_taken_back_as_well(told: Told) -> None:
    said = ("user", "Why is it slow?"), ("assistant", WIDE), ("user", "Ok, what else?"), ("assistant", "Nothing else.")
    admitted = ("user", "Check again."), ("assistant", "I was wrong: `parse_args` takes the longest match.")

    assert WIDE not in texts(told, *said, *admitted)


@pytest.mark.parametrize(
    "said",
    [
        "`MAX_UPLOAD` defaults to 5 MB in `settings.py`, which is why large uploads are rejected.",
        "`get_total` always includes cancelled orders in `settings.py` because the filter is missing.",
        "`parse_config` no longer reads `config.ini`, so `MAX_UPLOAD` is never set.",
    ],
)
def test_what_always_was_so_until_it_was_rewritten_is_no_finding(told: Told, said: str) -> None:
    old = "MAX_UPLOAD = 5; get_total(orders); parse_config()"
    given = {"file_path": "settings.py", "old_string": old, "new_string": "pass"}
    change = ("tool_call", "Edit", {"tool": "Edit", "tool_input": given})

    assert texts(told, ("user", "Look at the uploads."), ("assistant", said)) == [said]
    assert texts(told, ("user", "Look at the uploads."), ("assistant", said), change) == []
