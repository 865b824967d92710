"""Equivalence of two statements by their words."""

import pytest

from nous.knowledge.equivalence.compare import Difference, difference, likelihood
from nous.knowledge.equivalence.reading import read

SAME = [
    ("The team doesn't use Kubernetes", "The team does not use Kubernetes"),
    ("The monthly budget is $4,000", "The monthly budget is $4000"),
    ("The retry limit is three", "The retry limit is 3"),
    ("The contract ends on 2026-03-31", "The contract ends on March 31, 2026"),
    ("The backup starts at 2 PM", "The backup starts at 14:00"),
    ("Uploads are limited to 25 MB", "Uploads are limited to 25MB!"),
    ("Tim prefers direct architecture decisions", "Tim prefers direct architectural decisions"),
    ("The API listens on port 8080", "API is listening on port 8080"),
    ("John lives in Berlin with his sister", "John lives with his sister in Berlin"),
    ("In May, Noor moved to Oslo", "Noor moved to Oslo in May"),
    ("The service was written in Rust by Omar", "Omar wrote the service in Rust"),
    ("The importer can't read XML", "The importer cannot read XML"),
    ("Shadow branches use the pattern a/<b>", "Shadow branches: a/<b>"),
]

APART = [
    ("The API listens on port 8080", "The API listens on port 8081", "one says 8080, the other 8081"),
    ("The cache TTL is 30 seconds", "The cache TTL is 30 minutes", "one says seconds, the other minutes"),
    ("The heap is 128m", "The heap is 128M", "one says 128m, the other 128M"),
    ("retryUpload swallowed it", "retryDownload swallowed it", "one says retryUpload, the other retryDownload"),
    ("Alice owns billing", "Alicia owns billing", "one says Alice, the other Alicia"),
    ("The parser handles quotes", "The parser never handles quotes", "only one denies handl"),
    ("Tim mag grünen Tee", "Tim mag nicht grünen Tee", "only one denies grünen"),
    ("Users with rights delete", "Users without rights delete", "only one denies"),
    ("Jobs do not use Redis, tests use Redis", "Jobs use Redis, tests do not use Redis", "in another relation"),
    ("Tim prefers tabs over spaces", "Tim prefers spaces over tabs", "only one denies"),
    ("Backups run before the import", "Backups run after the import", "they have opposites"),
    ("All handlers verify it", "Some handlers verify it", "how often or how many differs"),
    ("It restarts if Redis closes", "It restarts unless Redis closes", "one holds in a case alone"),
    ("We plan to drop the format", "We drop the format", "how certain or how far along differs"),
    ("The tests passed on main", "The tests pass on main", "one is past"),
    ("Does the job retry", "Does the job retry?", "one is a question"),
    ("Alice reports to Bob", "Bob reports to Alice", "the same words in another relation"),
    ("Data goes from staging to production", "Data goes from production to staging", "in another relation"),
    ("Bugs in staging are fixed", "Bugs are fixed in staging", "the same words in another relation"),
    ("The service was deployed by Anna", "Anna was deployed by the service", "in another relation"),
    ("Users can delete episodes", "Users should delete episodes", "small words differ"),
    ("No, users can push", "No users can push", "only one denies"),
]


def compared(one: str, other: str) -> Difference:
    return difference(read(one), read(other))


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_another_dress_is_equal(one: str, other: str) -> None:
    assert compared(one, other).is_equal
    assert compared(other, one).is_equal


@pytest.mark.parametrize(("one", "other", "reason"), APART)
def test_a_detail_that_decides_is_objected_to_and_named(one: str, other: str, reason: str) -> None:
    assert reason in str(compared(one, other).objection)
    assert compared(other, one).objection


@pytest.mark.parametrize(
    ("longer", "shorter", "more"),
    [
        ("The team uses Postgres 16 in production", "The team uses Postgres", ["16", "production"]),
        ("cmd/push.go: retryUpload swallowed the error", "push.go: retryUpload swallowed the error", []),
        ("Fixed in ENT-250, see pkg/a.go", "Fixed in ENT-250", ["see", "pkg/a.go"]),
        ("Use require.Error or require.NoError", "Use require.Error/NoError", []),
    ],
)
def test_a_longer_text_may_have_more_literals_than_the_one_it_contains(
    longer: str, shorter: str, more: list[str]
) -> None:
    found = compared(longer, shorter)

    assert not found.only_right
    assert [word.text for word in found.only_left] == more
    assert found.containment[1] == 1


@pytest.mark.parametrize("unit", ["MİN", "mın", "mınutes", "mıllıon", "ſec", "K"])  # noqa: RUF001
def test_letters_that_only_look_like_those_of_a_unit_are_read_all_the_same(unit: str) -> None:
    text = f"The login session ends after 5 {unit} of ſep 8, 2026"  # noqa: RUF001

    assert compared(text, text).is_equal


@pytest.mark.parametrize(
    ("one", "other"), [("👍", "👎"), ("我喜欢茶", "我不喜欢茶"), ("It is", "It was"), ("...", "!!!")]
)
def test_what_has_no_words_that_are_known_is_never_the_same(one: str, other: str) -> None:
    assert not compared(one, other).is_equal


def test_other_words_for_the_same_are_likelier_than_one_word_that_differs() -> None:
    reworded = compared(
        "testifylint requires using `require.Error` for error assertions, not `assert.Error`",
        "Project uses testifylint rule requiring 'require.Error' instead of 'assert.Error' for error assertions",
    )
    changed = compared(
        "The linter warns when a function lacks a docstring", "The linter fails when a function lacks one"
    )

    assert likelihood(reworded, 0.92) > 0.7
    assert likelihood(changed, 0.92) < 0.4
