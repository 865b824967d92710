"""Which command lines test, build, lint and format a project, as its sessions ran them."""

from collections.abc import Callable

import pytest
from builders.sessions import Piece, asks, calls, runs

from nous.summary.heuristic.record import CommandRun, SessionRecord, usual
from nous.transcript.model import Header, Transcript

Told = Callable[..., Transcript]
Ran = Callable[..., list[CommandRun]]


@pytest.fixture
def ran(told: Told) -> Ran:
    """The runs of a session in /repo."""

    def ran(*pieces: list[Piece]) -> list[CommandRun]:
        entries = [entry for piece in (asks("Go on"), *pieces) for entry in piece]
        return list(SessionRecord(told(*entries, header=Header(cwd="/repo"))).runs)

    return ran


@pytest.mark.parametrize(
    ("command", "purpose"),
    [
        ("pytest", "test"),
        ("uv run pytest", "test"),
        ("npm test", "test"),
        ("make check", "test"),
        ("cargo build", "build"),
        ("make", "build"),
        ("ruff check", "lint"),
        ("cargo clippy -- -D warnings", "lint"),
        ("ruff format", "format"),
        ("mise run fmt", "format"),
    ],
)
def test_a_command_is_known_by_what_it_runs(ran: Ran, command: str, purpose: str) -> None:
    (run,) = ran(runs(command))

    assert (run.purpose, run.command, run.is_whole, run.passed) == (purpose, command, True, True)


@pytest.mark.parametrize("command", ["ls", "git commit -m 'make test pass'", "grep pytest pyproject.toml", "echo make"])
def test_what_only_names_a_command_does_not_run_it(ran: Ran, command: str) -> None:
    assert ran(runs(command)) == []


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests/unit/test_a.py",
        "pytest -k login",
        "go test -run TestA ./...",
        "cargo test parser",
        "npm test -w web",
    ],
)
def test_a_run_of_some_tests_is_not_how_tests_are_run(ran: Ran, command: str) -> None:
    (run,) = ran(runs(command))

    assert not run.is_whole
    assert usual([run]) == []


@pytest.mark.parametrize(
    "result",
    ["2 failed, 3 passed", "no tests ran", "make: *** [test] Error 2", "Exit Code: 1", "error[E0308]: mismatched"],
)
def test_a_result_may_show_a_failure_that_no_status_tells(ran: Ran, result: str) -> None:
    (run,) = ran(runs("make test", result))

    assert not run.passed


def test_what_has_no_result_or_was_rejected_did_not_run(ran: Ran) -> None:
    silent = calls("Bash", {"command": "pytest"})[:1]
    call = calls("Bash", {"command": "pytest"})
    rejected = [call[0], ("decision", "Rejected Bash", {"call_id": call[0][2]["call_id"]})]

    assert ran(silent, rejected) == []


def test_one_command_for_each_purpose_and_directory_is_usual_that_ran_most_and_last(ran: Ran) -> None:
    found = usual(
        ran(runs("pytest"), runs("make test"), runs("make test"), runs("ruff check"), runs("cd web && npm test"))
    )

    assert [(run.command, run.directory) for run in found] == [
        ("make test", ""),
        ("ruff check", ""),
        ("npm test", "web"),
    ]
