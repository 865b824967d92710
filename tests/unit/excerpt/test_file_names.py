"""What files are called in an excerpt."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nous.excerpt import fit
from nous.excerpt.file_names import naming
from nous.transcript.model import Header, Transcript
from nous.transcript.tool_actions import actions_of

Told = Callable[..., Transcript]


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
