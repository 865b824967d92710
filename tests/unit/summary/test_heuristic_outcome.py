"""How a session ended, from how its record ends."""

from collections.abc import Callable
from itertools import chain

import pytest
from builders.sessions import Piece, asks, calls, commits, edits, rejects, runs, says

from nous.domain.episode import Outcome, Summary
from nous.summary.heuristic.outcome import Judgement, contradiction, judge
from nous.summary.heuristic.record import SessionRecord
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]

REQUEST = asks("Please fix the parser of dates in dates.py")
SERVED = says("How can I help you with your reservation?")


@pytest.fixture
def judged(told: Told) -> Callable[..., Judgement]:
    return lambda *pieces: judge(SessionRecord(told(*(entry for piece in pieces for entry in piece))))


Judged = Callable[..., Judgement]


@pytest.mark.parametrize(
    ("ending", "evidence"),
    [
        (commits("fix: parse dates"), "committed"),
        (runs("pytest -q", "3 passed"), "passed"),
        (says("Fixed the parser of dates in `dates.py`."), "reported"),
    ],
    ids=["a commit", "a passing test", "a report"],
)
def test_work_that_ends_in_a_result_is_resolved_and_sure(judged: Judged, ending: list[Piece], evidence: str) -> None:
    found = judged(REQUEST, edits("dates.py"), ending)

    assert (found.outcome, found.is_sure) == (Outcome.RESOLVED, True)
    assert evidence in found.rationale


def test_an_answered_question_is_resolved(judged: Judged) -> None:
    found = judged(asks("Which port does staging use?"), says("Staging uses port 9017."))

    assert found.outcome is Outcome.RESOLVED
    assert "9017" in found.rationale


def test_thanks_at_the_end_resolve_what_was_asked(judged: Judged) -> None:
    found = judged(REQUEST, edits("dates.py"), says("Have a look."), asks("Perfect, thanks!"))

    assert (found.outcome, found.is_sure) == (Outcome.RESOLVED, True)


@pytest.mark.parametrize(
    "closing",
    [
        "Fixed it in `dates.py`. Ready to commit?",
        "Fixed it in `dates.py`. Want me to push this as well?",
        "Fixed it in `dates.py`. The remaining formats are deferred, as you asked.",
    ],
)
def test_a_closing_question_or_a_word_of_what_remains_is_no_open_work(judged: Judged, closing: str) -> None:
    assert judged(REQUEST, edits("dates.py"), says(closing)).outcome is Outcome.RESOLVED


def test_a_choice_that_the_user_has_to_make_leaves_work_open(judged: Judged) -> None:
    offered = "Option 1: Parse by hand.\n\nOption 2: Use a library.\n\nWhich approach do you prefer?"

    found = judged(REQUEST, says(offered))

    assert (found.outcome, found.waits_for) == (Outcome.PARTIAL, "Which approach do you prefer?")


def test_what_fails_last_and_is_not_mended_is_open(judged: Judged) -> None:
    failing = runs("npm run build", "error TS2554: Expected 4 arguments", fails=True)

    assert judged(REQUEST, edits("dates.ts"), failing, says("Let me look.")).outcome is Outcome.PARTIAL
    assert judged(REQUEST, failing, says("Hm.")).outcome is Outcome.UNRESOLVED
    mended = (edits("dates.ts"), runs("npm run build", "built"))
    assert judged(REQUEST, edits("dates.ts"), failing, *mended).outcome is Outcome.RESOLVED


@pytest.mark.parametrize(
    "ending", [rejects("Edit(dates.py)"), [("system", "[Request interrupted by user]")]], ids=["rejected", "stopped"]
)
def test_what_the_user_broke_off_is_open(judged: Judged, ending: list[Piece]) -> None:
    assert judged(REQUEST, ending).outcome is Outcome.UNRESOLVED
    assert judged(REQUEST, edits("dates.py"), says("Next."), ending).outcome is Outcome.PARTIAL


@pytest.mark.parametrize(
    ("asks_of_ten", "outcome"), [(4, Outcome.INFORMATIONAL), (5, Outcome.RESOLVED)], ids=["in passing", "half of it"]
)
def test_talk_in_which_questions_are_asked_in_passing_is_informational(
    judged: Judged, asks_of_ten: int, outcome: Outcome
) -> None:
    told = [asks("We were at the beach.") for _ in range(10 - asks_of_ten)]
    asked = [asks("What is the tallest mountain?") for _ in range(asks_of_ten)]

    turns = [piece for said in (*told, *asked) for piece in (said, says("Everest is the tallest mountain."))]

    assert judged(*turns).outcome is outcome


def test_a_service_that_did_what_was_asked_has_resolved_it(judged: Judged) -> None:
    booked = calls("book_reservation", {"flight": "HAT1"})

    found = judged(SERVED, asks("Book me the morning flight"), booked, says("Your flight has been booked."))

    assert (found.outcome, found.is_sure) == (Outcome.RESOLVED, True)


def test_what_a_service_hands_over_or_refuses_is_open(judged: Judged) -> None:
    handed = calls("transfer_to_human_agents", {"summary": "wants another passenger"})
    refused = says("I'm unable to cancel basic economy.")

    found = judged(SERVED, asks("Change the passenger"), handed, says("You are being transferred."))

    assert found.outcome is Outcome.UNRESOLVED
    assert "wants another passenger" in found.rationale
    assert judged(SERVED, asks("Cancel my flight"), refused, asks("But I need that!"), refused).outcome is (
        Outcome.UNRESOLVED
    )


def test_a_refusal_that_the_user_accepts_is_resolved_but_unsure(judged: Judged) -> None:
    refused = says("Your reservation cannot be changed.")

    found = judged(SERVED, asks("Change my flight please"), refused, asks("All right, thank you for your help."))

    assert (found.outcome, found.is_sure) == (Outcome.RESOLVED, False)


def test_a_request_without_an_answer_is_open_and_unsure(judged: Judged) -> None:
    found = judged(REQUEST, edits("dates.py"), says("Fixed `dates.py`."), asks("Now add a test for leap years"))

    assert (found.outcome, found.is_sure) == (Outcome.PARTIAL, False)


PASSES, FAILS = runs("pytest -q", "3 passed"), runs("pytest -q", "1 failed", fails=True)


@pytest.mark.parametrize(
    ("outcome", "claim", "record", "doubt"),
    [
        (Outcome.RESOLVED, "All tests pass.", [PASSES], None),
        (Outcome.PARTIAL, "All tests pass.", [PASSES, FAILS], "the last run of tests"),
        (Outcome.RESOLVED, "All tests pass.", [runs("ls", "dates.py")], "no run of tests"),
        (Outcome.RESOLVED, "All tests pass.", [says("They pass.")], None),
        (Outcome.RESOLVED, "It was committed in turn 1.", [commits("fix: parse dates")], None),
        (Outcome.RESOLVED, "It was committed in turn 1.", [PASSES], "no commit"),
        (Outcome.RESOLVED, "", [PASSES], "not in the session"),
        (Outcome.RESOLVED, "It is done.", [FAILS], "ends in an error"),
        (Outcome.PARTIAL, "One test is left.", [FAILS], None),
    ],
)
def test_a_model_s_outcome_is_doubted_if_the_record_contradicts_it_or_its_evidence(
    told: Told, outcome: Outcome, claim: str, record: list[list[Piece]], doubt: str | None
) -> None:
    pieces = (*REQUEST, *edits("dates.py"), *chain.from_iterable(record))
    summary = Summary(title="", summary="", key_points=(), outcome=outcome, outcome_rationale=claim, topics=())

    found = contradiction(summary, SessionRecord(told(*pieces)))

    assert found is None if doubt is None else doubt in (found or "")
