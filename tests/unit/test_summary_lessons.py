"""Which statements teach something, and when two say the same."""

import pytest

from nous.summary.lessons import alike, is_lesson, standing_alone
from nous.summary.statements import Statement
from nous.transcript.model import Kind


def lesson(text: str) -> bool:
    return is_lesson(Statement(text=text, speaker=Kind.ASSISTANT, turn=1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The server listens on port 8080.", "The server listens on port 8081."),
        ("An excerpt has at most 16000 characters.", "An excerpt has at most 8000 characters."),
        ("The tests fail with go-git v5.16.4.", "The tests fail with go-git v5.16.5."),
        ("The parser reads src/a.py first.", "The parser reads src/b.py first."),
        ("`InstallHooks()` writes to the settings file.", "`UninstallHooks()` writes to the settings file."),
        ("The cache reads the last page.", "The cache never reads the last page."),
        ("The cache reads the last page.", "The cache doesn't read the last page."),
        ("The flag is enabled in the settings.", "The flag is disabled in the settings."),
        ("The order has three items in it.", "The order has four items in it."),
        ("The balance is -5 dollars today.", "The balance is 5 dollars today."),
    ],
)
def test_statements_that_differ_in_what_must_be_exact_are_never_alike(one: str, other: str) -> None:
    assert not alike(one, other)
    assert not alike(other, one)
    assert alike(one, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The cache was missing entries because of the last page.", "The cache was missing entries, for the last page"),
        ("The transfer costs 1,000 dollars.", "The transfer costs 1000 dollars."),
        ("The pool doesn't free its pages.", "The pool does not free its pages."),
    ],
)
def test_statements_that_differ_in_the_telling_are_alike(one: str, other: str) -> None:
    assert alike(one, other)


@pytest.mark.parametrize(
    "text",
    [
        "The cache loses entries because `load_all` never reads the last page.",
        "Since JSONL lines are whole objects, a line that is too long has to be refused.",
        "Both `open_all()` and `load_all()` must hold the lock, or else pages are lost.",
    ],
)
def test_causes_and_constraints_that_stand_alone_are_lessons(text: str) -> None:
    assert lesson(text)


@pytest.mark.parametrize(
    "text",
    [
        "The `session_id` is wrong because session `28c304f6` was the most recent one.",
        "The bug is in `parser.py:120` because the index is never reset there.",
        "Auto-commit works because it writes to `entire/sessions` without this conversion layer.",
        "The `logging.Init` that I just added works because stdin is read first.",
        "Failed silently because there is no file for `load_all` in the cache.",
        "Since we are on the `main` branch, let me review the rest of `load_all`.",
        "A better fix would be to run `load_all` only when it is safe, because of the lock.",
        "The `load_all` call is slow because of `BatchUploadTimeout` (it defaults to 10 seconds!",
        "The problem is only there because `session_start` overwrites it.",
    ],
)
def test_what_holds_for_the_moment_or_points_elsewhere_is_no_lesson(text: str) -> None:
    assert not lesson(text)


def test_a_note_on_a_name_is_told_as_a_sentence_about_it() -> None:
    assert standing_alone("`load_all()` - Now uses the lock") == "`load_all()` uses the lock"
