"""The title, the summary and the lessons of a session, in its own words."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from builders.sessions import Piece, asks, commits, edits, rejects, runs, says
from hypothesis import given
from hypothesis import strategies as st

from nous.domain.episode import Lesson
from nous.summary.heuristic.summarize import Extracted, summarize
from nous.transcript.model import Entry, Header, Kind, Transcript

Told = Callable[..., Transcript]
Of = Callable[..., Extracted]


@pytest.fixture
def of(told: Told) -> Of:
    return lambda *pieces: summarize(told(*(entry for piece in pieces for entry in piece)))


def test_a_title_of_the_session_s_own_goes_first(told: Told) -> None:
    session = replace(told(*asks("fix it"), *says("Fixed.")), header=Header(title="Dates of leap years"))

    assert summarize(session).summary.title == "Dates of leap years"


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("Hi! Could you please add a standard MIT license?", "Add a standard MIT license"),
        ("/review use checklist.md to review the change of the parser", "Review the change of the parser"),
        (
            "Don't write code yet. Explain how the cache of sessions expires",
            "Explain how the cache of sessions expires",
        ),
        ("https://example.org/x/1 main branch tests failing - why?", "Main branch tests failing"),
    ],
    ids=["a greeting", "a slash command", "how to work", "a link"],
)
def test_a_title_is_what_was_asked_without_what_leads_up_to_it(of: Of, asked: str, title: str) -> None:
    assert of(asks(asked), says("OK.")).summary.title.startswith(title)


def test_a_commit_names_the_session_better_than_a_vague_request(of: Of) -> None:
    found = of(asks("go on"), edits("a.py"), commits("feat(auth): renew session cookies"), says("Done."))

    assert found.summary.title.startswith("Renew session cookies")


def test_a_summary_tells_each_request_with_its_result(of: Of) -> None:
    told = of(
        asks("Which port does staging use?"),
        says("Staging uses port 9017."),
        asks("Now move it to port 9018"),
        edits("deploy/staging.yaml"),
        says("Moved staging to port 9018 in `deploy/staging.yaml`."),
        commits("Move staging to port 9018"),
    ).summary.summary

    assert told == (
        "“Which port does staging use?”: Staging uses port 9017. “Now move it to port 9018”: Moved staging to port "
        "9018 in `deploy/staging.yaml`. Committed: Move staging to port 9018. Files changed: staging.yaml."
    )


def test_a_summary_says_what_is_open_and_offers_as_offers(of: Of) -> None:
    offered = "Option A: Parse by hand.\n\nOption B: Use a library.\n\nWhich approach do you prefer?"

    told = of(asks("make the parser of dates faster"), says(offered)).summary

    assert "The agent offered Option A: Parse by hand; Option B: Use a library." in told.summary
    assert told.summary.endswith("with a choice that the user has to make: Which approach do you prefer?")
    assert told.open_threads[-1] == "Which approach do you prefer?"


def test_a_failure_that_was_mended_teaches_its_cause(of: Of) -> None:
    lessons = of(
        asks("make the tests pass"),
        runs("pytest", "1 failed"),
        says("The test fails because `read_rows` closes the file too early."),
        edits("rows.py"),
        runs("pytest", "3 passed"),
        says("All tests pass."),
    ).summary.key_points

    assert lessons == (
        "`pytest` failed until this was mended: The test fails because `read_rows` closes the file too early.",
    )


LINT = "rows.py:3:1: string `rows` has 3 occurrences (goconst)\n1 error"
PORT = "the proxy listens on port 9018 since it moved to the new host"
MENDED = [runs("make lint", LINT, fails=True), edits("src/rows.py"), runs("make lint")]


@pytest.mark.parametrize(
    ("pieces", "turns", "lesson"),
    [
        (MENDED, (1,), "`make lint` failed until `rows.py` changed: “string `rows` has 3 occurrences (goconst)”"),
        ([rejects("Edit(/src/a.py)", "use one switch")], (1,), "The user rejected Edit(a.py): “use one switch”"),
        ([rejects("Edit(/src/a.py)"), asks("fix the test")], (1, 2), "The user rejected Edit(a.py): “fix the test”"),
        (
            [says("`Stop` ends a session."), asks("no, `Stop` ends a turn"), says("Understood.")],
            (2,),
            "The user corrected the agent: “no, `Stop` ends a turn”",
        ),
        (
            [edits("a.py"), says("Done."), asks("the proxy moved to a new host"), says(f"You're right: {PORT}.")],
            (2,),
            f"The user corrected the agent: “the proxy moved to a new host” The agent then said: “T{PORT[1:]}.”",
        ),
        (
            [asks("saving a draft crashes the editor"), edits("a.py"), says("Added the missing lock to `save_draft`.")],
            (2,),
            "“saving a draft crashes the editor” was mended: Added the missing lock to `save_draft`.",
        ),
    ],
    ids=["linted", "rejected", "rejected, then told why", "objected", "accepted", "reported"],
)
def test_what_was_mended_or_corrected_is_a_lesson_with_its_turns(
    of: Of, pieces: list[list[Piece]], turns: tuple[int, ...], lesson: str
) -> None:
    assert of(asks("go on"), *pieces).summary.lessons == (Lesson(lesson, turns),)


@pytest.mark.parametrize(
    "pieces",
    [
        [edits("a.py"), runs("pytest"), says("Added a test to `a.py`.")],
        [rejects("Edit(/src/a.py)"), asks("thanks"), says("OK.")],
        [rejects("Edit(/src/a.py)", "wait, is it needed?"), says("OK.")],
        [runs("make lint", LINT, fails=True), runs("make lint"), says("Done.")],
        [runs("go build x && x bad", "Error: no such command", fails=True), edits("a.py"), runs("go build x")],
        [edits("a.py"), says("Done."), asks("next, `b.py` adds wrong totals up for the EU, repair it"), says("Done.")],
        [edits("a.py"), says("Done."), asks("the password is [secret:password:1a2b]"), says("You're right.")],
    ],
    ids=["nothing failed", "thanks", "a question", "nothing changed", "something else failed", "new work", "a secret"],
)
def test_nothing_is_learned_where_nothing_was_mended_or_corrected(of: Of, pieces: list[list[Piece]]) -> None:
    assert of(asks("go on"), *pieces).summary.lessons == ()


@pytest.mark.parametrize(
    "said",
    [
        "Added a test because `parse` had none.",
        "It might fail because `parse` is slow.",
        "This is because `parse` is slow.",
        "I think you must call `parse` because of that.",
        "Line 17 fails because `parse` is slow, see lines 17.",
    ],
    ids=["an event", "a guess", "points back", "talks to the user", "a line"],
)
def test_what_does_not_stand_alone_or_only_happened_is_no_lesson(of: Of, said: str) -> None:
    assert of(asks("have a look"), says(said)).summary.key_points == ()


def test_what_the_user_objects_to_is_no_lesson(of: Of) -> None:
    claim = says("The build fails because `cache.lock` is held by another process.")

    assert of(asks("why does it fail?"), claim).summary.key_points != ()
    assert of(asks("why does it fail?"), claim, asks("no, that's wrong"), says("I see.")).summary.key_points == ()


@given(
    st.lists(
        st.tuples(st.sampled_from([kind.value for kind in Kind]), st.text(max_size=60), st.integers(0, 4)), max_size=12
    )
)
def test_any_entries_make_a_summary(pieces: list[tuple[str, str, int]]) -> None:
    entries = tuple(
        Entry(kind=Kind(kind), text=text, id=str(at), turn=turn) for at, (kind, text, turn) in enumerate(pieces)
    )

    found = summarize(Transcript(format="test", entries=entries, digest="0" * 64, bytes=0))

    assert found.summary.outcome_rationale
    assert found.summary.title
