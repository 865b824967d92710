"""What stands for itself: names, codes, letters and long numbers; and contraries that no model is asked about."""

import pytest

from nous.learning.guard.compare import Comparison, compare
from nous.learning.guard.lexicon import english
from nous.learning.statement import Statement

APART = [
    # capitals
    ("Orders to NO are held", "Orders are not held"),
    ("The shop ships in the US zone", "The shop ships in the IT zone"),
    ("AT and DE are open", "IT and DE are open"),
    ("The probe sends a GET request to /health", "The probe sends a request to /health"),
    ("The WHO list is long", "The list is long"),
    ("The account has the DELETE right", "The account has the DROP right"),
    ("The script runs CHANGE column", "The script runs MODIFY column"),
    ("The page answers PUT", "The page answers ADD"),
    # proper names and code
    ("The class uses Google Chat", "The class uses Google Talk"),
    ("The class uses Amazon Prime", "The class uses Amazon Main"),
    ("The label is `remove`", "The label is `delete`"),
    ("Run `tool fetch all` at night", "Run `tool retrieve all` at night"),
    ("Mary-Jane owns the shop", "Mary owns the shop to Jane"),
    # letters and signs
    ("The edge is a -> b", "The edge is b -> a"),
    ("The road leads from a to b", "The road leads from b to a"),
    ("The words are joined with +", "The words are joined with &"),
    ("The method `save!` checks the row", "The method `save` checks the row"),
    ("The name must match `foo?`", "The name must match `foo`"),
    ("Run `go test ./...` first", "Run `go test ./` first"),
    ("The range is `[0, 9)` here", "The range is `[0, 9]` here"),
    ("Run `git checkout -` first", "Run `git checkout` first"),
    ("The token is in API_TOKEN", "The token is in api_token"),
    ("The page is at /Docs/A", "The page is at /docs/a"),
    ("Run ls -lA", "Run ls -la"),
    ("The link has 100 Mbps", "The link has 100 MBps"),
    # long numbers
    (f"The id is 1{'0' * 30}1 million euro", f"The id is 1{'0' * 30}2 million euro"),
    (f"The id is 1{'0' * 40}1 seconds", f"The id is 1{'0' * 40}2 seconds"),
    # two senses of a word
    ("The parser raises an error", "The parser increases an error"),
    ("Sales declined", "Sales refused"),
    ("The door policy is deny", "The door policy is reject"),
    ("The level is warning", "The level is alert"),
    ("The storm brings down the tree", "The storm reduces the tree"),
    ("The path is clear", "The path is obvious"),
    ("The fire is large", "The trigger is large"),
]

CONTRARY = [
    ("The gate is rate limited", "The gate is unlimited"),
    ("The post is paid", "The post is unpaid"),
    ("The toy is harmless", "The toy is harmful"),
    ("Der Zugang ist nicht offen", "Der Zugang ist offen"),
    ("Das Limit ist nicht 7", "Das Limit ist 7"),
    ("Der Umzug ist kein Problem", "Der Umzug ist ein Problem"),
    ("Le musée est pas ouvert", "Le musée est ouvert"),
    ("Het is niet veilig", "Het is veilig"),
    ("Музей не открыт", "Музей открыт"),
]

SAME = [
    ("THE MAIN GATE IS SHUT", "The main gate is shut"),
    ("The branch is `main/<name>`", "The branch is main/<name>"),
    ("The DB is slow", "The database is slow"),
    ("The ID is long", "The identifier is long"),
    ("Tests must NOT use sockets", "Tests must not use sockets"),
    ("The class uses Google Chat", "Google Chat is used by the class"),
    ("The label is `remove`", "The label is remove"),
    ("The team uses `ruff` and `mypy`", "The team uses ruff and mypy"),
    ("Use `git rebase`, not `git merge`", "Use git rebase, not git merge"),
    ("The office is open Mon-Fri", "The office is open Monday to Friday"),
    ("The fee is 5 dollars + tax", "The fee is 5 dollars and tax"),
    ("Salt & pepper are free", "Salt and pepper are free"),
    ("Call `save()` first", "Call save() first"),
    ("Run `ls -la` first", "Run ls -la first"),
    ("The file is a copy", "The file is a duplicate"),
    ("The fund holds $2M", "The fund holds 2 million dollars"),
]


def compared(one: str, other: str) -> Comparison:
    return compare(Statement(one).reading, Statement(other).reading, english())


@pytest.mark.parametrize(("one", "other"), APART + CONTRARY)
def test_what_stands_for_itself_is_no_other(one: str, other: str) -> None:
    assert compared(one, other).objection
    assert compared(other, one).objection


@pytest.mark.parametrize(("one", "other"), CONTRARY)
def test_a_contrary_is_not_left_to_whoever_understands_the_words(one: str, other: str) -> None:
    assert not compared(one, other).is_open
    assert not compared(other, one).is_open


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_is_spelled_in_another_way_is_the_same(one: str, other: str) -> None:
    assert compared(one, other) == Comparison()
    assert compared(other, one) == Comparison()
