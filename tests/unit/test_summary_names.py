"""What a statement is about, so that two sessions call one thing by one name."""

import pytest

from nous.summary.names import subject_of
from nous.summary.third_person import in_third_person
from nous.summary.verdicts import verdict_in


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("`run_all(a, b)` reads the last page.", "run_all"),
        ("`baseTree == headTree` holds after a commit.", "baseTree"),
        ("Run `git config gc.worktreeRefExpire never` in the main repo.", "gc.worktreeRefExpire"),
        ("Simplify `entire enable` for newcomers.", "entire enable"),
        ("Created .github/CODEOWNERS with `@acme/cli` as the owner.", ".github/CODEOWNERS"),
        ("Added a check in `parser.py:120-140`.", "parser.py"),
        ("ENT-260 has the same cause as ENT-258.", "ENT-260"),
        ("Backup notices always print to stderr (even when `silent`).", "Backup notices"),
        ("The Linear MCP server doesn't expose an `issue` parameter.", "Linear MCP server"),
        ("The staging database of billing listens on port 6543.", "staging database of billing"),
        ("Footers are padded with `\\x1b[0m` at the end.", "Footers"),
        ("It is slow on Fridays.", ""),
        ("Since lines are whole objects, an error is returned.", ""),
    ],
)
def test_a_statement_is_about_what_it_names(text: str, subject: str) -> None:
    assert subject_of(text) == subject


def test_a_number_is_no_name_so_that_a_new_one_can_take_its_place() -> None:
    assert subject_of("The ledger service listens on port 8080.") == subject_of(
        "The ledger service now listens on port 8081."
    )


@pytest.mark.parametrize(
    ("decision", "subject"),
    [
        ("Rejected Write(/home/me/LICENSE): use the MIT one", "LICENSE"),
        ("Rejected Bash: use `make check` instead", "make check"),
        ("Approved the plan: Plan: Inline `load_all()`", "load_all"),
        ('Answered: "Which database?"="Postgres"', "Which database"),
        ('Rejected Bash(desc="Commit the fix", cmd="git commit"): use a separate branch', "user"),
    ],
)
def test_a_verdict_is_about_what_was_put_to_the_user(decision: str, subject: str) -> None:
    told = verdict_in(decision)

    assert told is not None
    assert told.subject == subject


@pytest.mark.parametrize(
    ("first", "third"),
    [
        ("My name's Fatima", "The user's name is Fatima"),
        ("my sister's a nurse", "The user's sister is a nurse"),
        ("My sister's dog died", "The user's sister's dog died"),
    ],
)
def test_a_short_is_is_written_out(first: str, third: str) -> None:
    assert in_third_person(first) == third
