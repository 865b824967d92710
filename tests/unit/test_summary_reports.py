"""What of an agent's work is worth keeping: what is new and where, and not what the code shows or what is praised."""

from collections.abc import Callable
from typing import Any

import pytest

from nous.episode import CandidateFact, Category
from nous.summary.evidence import Evidence
from nous.summary.facts import candidate_facts
from nous.summary.third_person import in_third_person
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]

WRITE = ("tool_call", "Write", {"tool": "Write", "tool_input": {"file_path": "src/LICENSE", "content": "x"}})


def bash(command: str) -> tuple[str, str, dict[str, Any]]:
    return "tool_call", command, {"tool": "Bash", "tool_input": {"command": command}}


def facts(told: Told, *entries: tuple[Any, ...]) -> list[CandidateFact]:
    return list(candidate_facts(Evidence(told(*entries))))


def texts(told: Told, *entries: tuple[Any, ...]) -> list[str]:
    return [fact.text for fact in facts(told, *entries)]


@pytest.mark.parametrize(
    "report",
    [
        "Added the missing `AgentName` field to the `APIRequest` struct with its tag.",
        "Updated `handlers.go` to conditionally show the branch when `has_branch` is true.",
        "Created `cmd/help.go` (moved from `commands/` with an updated package).",
        "The `test.json` theme file has been deleted, and nothing else uses it.",
        "Changed `fmt.Fprintf(out, err)` to `fmt.Fprintf(out, text, err)` in the file `main.go`.",
        "Removed all six duplicate checks from the file `handlers.go`.",
        "Created ENT-242 with Urgent priority, linked to ENT-241.",
        "Added `TestCommand` that verifies that it returns all flags (e.g., `list --all`).",
    ],
)
def test_what_the_code_shows_is_no_report(told: Told, report: str) -> None:
    assert texts(told, ("user", "Go on."), WRITE, ("assistant", report)) == []


@pytest.mark.parametrize(
    ("report", "fact"),
    [
        ("I've created `LICENSE` with the standard MIT license of Acme.", "Created `LICENSE` with the standard MIT "),
        ("Added `load()` in `store.go:36-40`, which loads all pages.", "Added `load()` in `store.go`, which loads "),
    ],
)
def test_what_is_new_is_a_report_with_its_place(told: Told, report: str, fact: str) -> None:
    (found,) = texts(told, ("user", "Go on."), WRITE, ("assistant", report))

    assert found.startswith(fact)


@pytest.mark.parametrize(
    "said",
    [
        "`AddDate` is the right choice for calendar arithmetic across month and year boundaries.",
        "The core fix is correct because `load_all` always takes the lock that it needs.",
        "The cleanest fix is to filter in `load_all`, because it always has the lock.",
        "The reason `agent_lines=0` is that `load_all` was called twice by the runner.",
        "The footer now uses `dim` instead of `muted`, because it is always easier to read.",
        "4 existing documents updated because `load_all` is always called with the lock.",
    ],
)
def test_praise_proposals_changes_and_what_was_seen_once_are_no_findings(told: Told, said: str) -> None:
    assert texts(told, ("user", "Go on."), ("assistant", said)) == []


def test_a_finding_is_told_without_the_line_of_its_file(told: Told) -> None:
    said = "The handler in `src/palette.ts:52` fails because it never asks the registry at localhost:8080."

    (found,) = texts(told, ("user", "Go on."), ("assistant", said))

    assert found == "The handler in `src/palette.ts` fails because it never asks the registry at localhost:8080."


@pytest.mark.parametrize(
    ("command", "fact", "subject"),
    [
        ("mise run test:integration", "The integration tests are run with `mise run test:integration`.", "integration"),
        ("npm run test:e2e", "The e2e tests are run with `npm run test:e2e`.", "e2e"),
        ("go test -tags=slow ./...", "The slow tests are run with `go test -tags=slow ./...`.", "slow"),
    ],
)
def test_a_command_for_one_kind_of_tests_says_which(told: Told, command: str, fact: str, subject: str) -> None:
    (found,) = facts(told, ("user", "Go on."), bash(command))

    assert (found.text, found.subject) == (fact, f"{subject} tests")


def test_a_command_for_all_tests_is_preferred_to_one_for_a_kind(told: Told) -> None:
    assert texts(told, ("user", "Go."), bash("just test:e2e"), bash("mise run test")) == [
        "Tests are run with `mise run test`."
    ]


@pytest.mark.parametrize(
    ("approved", "told_of"),
    [
        ("Count all calls of `load()` in the repository", 0),
        ("Phase 0: Clean up and lay the ground", 0),
        ("Split `parser.py` in two files", 1),
    ],
)
def test_an_approved_plan_that_only_looks_or_names_nothing_is_no_fact(told: Told, approved: str, told_of: int) -> None:
    assert len(facts(told, ("user", "Go on."), ("decision", f"Approved the plan: {approved}"))) == told_of


def test_a_rejection_that_wants_to_be_shown_more_is_a_fact(told: Told) -> None:
    assert len(facts(told, ("user", "Go on."), ("decision", "Rejected Edit(a.py): verify every signature"))) == 1


def test_what_must_never_be_is_a_rule_wherever_it_stands_in_its_sentence(told: Told) -> None:
    found = facts(told, ("user", "The themes are new. An invalid theme must never break the editor."), WRITE)

    assert [(fact.text, fact.category) for fact in found] == [
        ("An invalid theme must never break the editor.", Category.RULE)
    ]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("No, the server in `serve.py` listens on port 8081.", ["The server in `serve.py` listens on port 8081."]),
        ("no, the server in `serve.py` listens on port 8081", ["The server in `serve.py` listens on port 8081."]),
        ("No server in `serve.py` listens on port 8081 now.", []),
    ],
)
def test_what_the_user_puts_right_is_known(told: Told, said: str, found: list[str]) -> None:
    assert texts(told, ("user", "Go on."), ("assistant", "It is port 80."), ("user", said), bash("ls")) == found


def test_in_work_a_preference_may_have_its_condition(told: Told) -> None:
    said = "If the build is red, I prefer to see the whole trace."

    assert texts(told, ("user", said), bash("ls")) == ["If the build is red, the user prefers to see the whole trace."]


def test_a_denial_is_not_taken_off(told: Told) -> None:
    assert texts(told, ("user", "No need to keep two parsers in `serve.py`."), bash("ls")) == [
        "The user decided: “No need to keep two parsers in `serve.py`.”"
    ]


def test_a_condition_for_being_right_is_no_praise(told: Told) -> None:
    said = "The cache in `store.py` is correct only if `load_all` has the lock, because pages are lost."

    assert texts(told, ("user", "Go on."), ("assistant", said)) == [said]


@pytest.mark.parametrize(
    ("first", "third"),
    [
        ("I LOVE shrimp", "The user loves shrimp"),
        ("I also live on campus and have been trying", "The user also lives on campus and has been trying"),
        ("I have a dog and my parents came and have been happy", "The user has a dog and their parents came and have "),
    ],
)
def test_every_verb_of_the_speaker_is_in_the_third_person(first: str, third: str) -> None:
    assert in_third_person(first).startswith(third)


def test_what_only_those_who_talked_can_place_is_no_fact_about_somebody(told: Told) -> None:
    chat = "I moved here in my senior year with Anna.", "My friend quit her job in Rome for the move."

    said = [("user" if n % 2 else "assistant", text) for n, text in enumerate(chat * 3)]

    assert texts(told, *said) == []
