"""Windows on a session that one excerpt cannot tell, and what files are called in one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nous.domain.errors import BadInput
from nous.excerpt import fit, windows
from nous.excerpt.file_names import naming
from nous.excerpt.fit import MOST_WINDOWS, ONE_PASS, PER_WINDOW
from nous.transcript.model import Header, Transcript
from nous.transcript.tool_actions import actions_of

Told = Callable[..., Transcript]

BUDGET = 400
HUNDRED = 100 - len("[Assistant] \n\n")


def answers(turn: str, count: int) -> list[tuple[str, str]]:
    """A user's request and so many answers, a hundred characters each as they are laid out."""
    asked = ("user", turn.ljust(HUNDRED + len("Assistant") - len("User"), "."))
    return [asked, *(("assistant", f"{turn} {number}".ljust(HUNDRED, ".")) for number in range(1, count))]


def session(told: Told, *hundreds: int) -> Transcript:
    """A session of turns of so many hundreds of characters."""
    return told(*(entry for turn, count in enumerate(hundreds, start=1) for entry in answers(f"turn{turn}", count)))


def beginnings(transcript: Transcript, **options: Any) -> list[str]:
    """The ids of the entries that the windows begin with."""
    return [window.transcript.entries[0].id for window in windows(transcript, BUDGET, **options).windows]


def test_where_there_are_not_enough_each_covers_more_and_the_wish_is_told(told: Told) -> None:
    found = windows(session(told, *[4] * PER_WINDOW * 20), BUDGET)

    assert (len(found.windows), found.wanted) == (MOST_WINDOWS, 20)


def test_a_caller_may_allow_one_window_only(told: Told) -> None:
    found = windows(session(told, *[4] * 12), BUDGET, most=1)

    assert (len(found.windows), found.wanted) == (1, 4)


def test_windows_begin_where_a_turn_does(told: Told) -> None:
    assert beginnings(session(told, 5, 5, 5, 5, 5)) == ["e0", "e10", "e15"]


def test_a_turn_longer_than_a_window_is_cut_near_to_equal_shares(told: Told) -> None:
    assert beginnings(session(told, 36)) == ["e0", "e12", "e24"]


def test_a_plan_and_the_calls_before_it_leave_no_window_empty(told: Told) -> None:
    planned = ("tool_call", "plan", {"tool": "TodoWrite", "tool_input": {"todos": [{"content": "a step " * 40}]}})
    called = ("tool_call", "run", {"tool": "Bash", "tool_input": {"command": "make all " * 12}})
    transcript = told(*(entry for _ in range(40) for entry in (planned, called, ("assistant", "said " * 20))))

    for budget in range(40, 400, 3):
        assert all(window.transcript.entries for window in windows(transcript, budget).windows)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"most": 0}, "at most 0 windows: it has to be 1 or more"),
        ({"budget": -1}, "a budget of -1 chars: it has to be 0 or more"),
        ({"unit": "words"}, "'words' is not a unit: choose chars or tokens"),
        ({"strategy": "best"}, "'best' is not a strategy: choose one of default, "),
    ],
)
def test_what_cannot_be_is_refused_however_long_the_session_is(
    told: Told, options: dict[str, Any], complaint: str
) -> None:
    chosen: dict[str, Any] = {"budget": BUDGET, **options}

    for hundreds in ([1], [2], [5], [4] * 99):
        with pytest.raises(BadInput, match=complaint):
            windows(session(told, *hundreds), **chosen)


def test_four_budgets_are_one_window_and_a_hundred_characters_more_are_two(told: Told) -> None:
    assert len(windows(session(told, *[4] * ONE_PASS), BUDGET).windows) == 1
    assert len(windows(session(told, *[4] * ONE_PASS, 1), BUDGET).windows) == 2


def read(path: str) -> tuple[str, str, dict[str, Any]]:
    return "tool_call", "Read", {"tool": "Read", "tool_input": {"file_path": path}}


def run(command: str) -> tuple[str, str, dict[str, Any]]:
    return "tool_call", command, {"tool": "Bash", "tool_input": {"command": command}}


def relative(transcript: Transcript, path: str) -> str:
    return naming(transcript, actions_of(transcript).values()).relative(path)


def test_files_are_named_from_the_directory_that_the_session_says_it_works_in(told: Told) -> None:
    transcript = replace(told(("user", "x"), read("/home/a/shop/src/cart.py")), header=Header(cwd="/home/a/shop"))

    assert relative(transcript, "/home/a/shop/src/cart.py") == "src/cart.py"


@pytest.mark.parametrize("said", ["git add src/cart/list.py", "cat ./src/cart/list.py", "diff b/src/cart/list.py"])
def test_or_that_from_which_the_session_names_a_file_itself(told: Told, said: str) -> None:
    transcript = told(read("/home/a/shop/src/cart/list.py"), read("/home/a/shop/src/cart/item.py"), run(said))

    assert relative(transcript, "/home/a/shop/src/cart/item.py") == "src/cart/item.py"


def test_a_file_is_named_by_its_path_once_and_by_its_name_from_then_on(told: Told) -> None:
    text = fit(
        told(("user", "x"), read("/r/p/src/a.py"), ("assistant", "ok"), read("/r/p/src/a.py"), read("/r/p/b.py"))
    ).text

    assert "[Tools] Read(src/a.py)" in text
    assert "[Tools] Read(a.py) | Read(b.py)" in text


def test_files_of_the_same_name_are_always_told_apart(told: Told) -> None:
    calls = [
        read("/r/p/a/mod.py"),
        ("assistant", "ok"),
        read("/r/p/b/mod.py"),
        ("assistant", "ok"),
        read("/r/p/a/mod.py"),
    ]

    text = fit(told(("user", "x"), *calls)).text

    assert text.count("Read(a/mod.py)") == 2
    assert text.count("Read(b/mod.py)") == 1


def test_only_a_path_that_stands_on_its_own_is_shortened(told: Told) -> None:
    kept = ("${X}/home/p/x.py", "$(pwd)/home/p/x.py", "/srv/\u00e9/home/p/x.py", "/home/p//x.py", "/home/p/x.py%20y")
    copied = (run(f"cp {path} out") for path in kept)
    seen = (read("/home/p/x.py"), read("/home/p/y.py"))

    text = fit(replace(told(("user", "go"), *seen, *copied), header=Header(cwd="/home/p"))).text

    assert all(f"cp {path} out" in text for path in kept[:4])
    assert "cp x.py%20y out" in text
