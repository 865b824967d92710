"""Which of the user's orders hold beyond the task, and what takes them back."""

from collections.abc import Callable

import pytest
from builders.at_work import texts

from nous.transcript.model import Transcript

Told = Callable[..., Transcript]


@pytest.mark.parametrize(
    "said",
    [
        "Always answer in German.",
        "Do not use mocks in tests.",
        "Run `make lint` before every commit.",
        "Ask me before you push.",
        "In tests, never use sleep.",
        "No emojis in commit messages.",
        "Use pnpm instead of npm.",
        "Don't use mocks in tests.",
        "Stop adding comments everywhere!",
        "Use pnpm, not npm.",
        "All new code must have type hints.",
        "Tests must pass before every commit.",
        "Commit messages must be in English.",
        "When you write Python, use type hints.",
        "Keep answers short.",
        "You should always ask before deleting files.",
    ],
)
def test_what_is_to_be_so_each_time_is_a_rule(told: Told, said: str) -> None:
    assert texts(told, said) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Make sure to handle None in parse_date.",
        "Refactor parser.py. Don't use a regex.",
        "Don't add a new dependency, just patch utils.py.",
        "Don't touch app.py while I edit it.",
        "Don't use a class for that.",
        "Do not use recursion in solve().",
        "Remember that we renamed foo to bar earlier.",
        "You never run the tests.",
        "Every time I run npm start I get EADDRINUSE.",
        "Implement this:\n\n## Acceptance criteria\n- Never reveal whether the account exists.",
        "Update the prompt with these rules:\n- Always greet the customer.",
        "What does this mean?\n// Always call init() before run().",
        "git says\nhint: never rebase shared branches",
        "Every test must pass.",
        "You are a research agent. Search the repo. Always return a list.",
        "The form has a bug, fix it. Never submit twice.",
        "Build a todo app:\n- Always sort by date.\n- Never lose an item.",
        "Always validate input in the new endpoint.",
        "Remember that the demo is on Friday.",
    ],
)
def test_what_is_to_be_so_in_the_task_at_hand_or_for_others_is_none(told: Told, said: str) -> None:
    assert texts(told, said) == []


@pytest.mark.parametrize(
    ("rule", "taken_back"),
    [
        ("Always use tabs.", "Forget the tabs rule, use spaces."),
        ("Never push to main.", "You can push to main again."),
        ("Always ask before a commit.", "Asking before a commit is no longer needed."),
    ],
)
def test_what_was_taken_back_is_no_rule_any_more(told: Told, rule: str, taken_back: str) -> None:
    assert texts(told, rule, "Show me the log.") == [rule]
    assert texts(told, rule, taken_back) == []


@pytest.mark.parametrize(
    "said",
    [
        "I don't like the name foo, rename it to bar.",
        "I like it, ship it.",
        "I prefer the old button color, change it back.",
        "I'd prefer a dict here.",
        "I love how fast that was!",
        "I hate that the test fails randomly.",
    ],
)
def test_how_somebody_likes_what_is_before_them_is_no_preference(told: Told, said: str) -> None:
    assert texts(told, said) == []
    assert texts(told, "I prefer short answers.") == ["The user prefers short answers."]


def test_what_is_chosen_instead_takes_the_place_of_the_choice_before(told: Told) -> None:
    told_last = texts(told, "Let's go with Redis for the cache.", "Let's go with Memcached instead.")

    assert told_last == ["The user decided: “Let's go with Memcached instead.”"]
