"""How a session ended, and what that is judged from."""

from collections.abc import Callable
from typing import Any

import pytest

from nous.episode import Outcome
from nous.summary.evidence import Evidence
from nous.summary.extractive import summarize
from nous.summary.outcome import RULES, Judgement, judge
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]
Entries = tuple[tuple[Any, ...], ...]

EDIT = ("tool_call", "Edit", {"tool": "Edit", "tool_input": {"file_path": "a.py"}, "call_id": "c1"})
TEST = ("tool_call", "Bash", {"tool": "Bash", "tool_input": {"command": "pytest -q 2>&1"}, "call_id": "c2"})
TEST_FAILED = ("tool_result", "2 failed", {"call_id": "c2", "is_error": True})
TRANSFER = ("tool_call", "", {"tool": "transfer_to_human_agents", "tool_input": {"summary": "x"}})
BOOK = ("tool_call", "", {"tool": "book_room", "tool_input": {"nights": 2}, "call_id": "c3"})
ASKED = ("user", "Please fix the parser in a.py.")


def outcome(told: Told, *entries: tuple[Any, ...]) -> Judgement:
    return judge(Evidence(told(*entries)))


CASES: dict[str, tuple[Entries, Outcome, str]] = {
    "reported done": ((ASKED, EDIT, ("assistant", "Fixed the parser, all tests pass.")), Outcome.RESOLVED, "turn 1"),
    "done and thanked": (
        (ASKED, EDIT, ("assistant", "Fixed the parser."), ("user", "Thanks a lot!"), ("assistant", "You're welcome!")),
        Outcome.RESOLVED,
        "turn 2 the user was content",
    ),
    "changed without a word": ((ASKED, EDIT, ("assistant", "See the diff.")), Outcome.RESOLVED, "changes in turn 1"),
    "never answered": ((ASKED,), Outcome.UNRESOLVED, "turn 1 was left without an answer"),
    "stopped at work": (
        (ASKED, EDIT, ("assistant", "Now let me run the tests:")),
        Outcome.PARTIAL,
        "turn 1 with work still to come",
    ),
    "ran the tests it announced": (
        (ASKED, EDIT, ("assistant", "Now let me run the tests:"), TEST, ("tool_result", "3 passed", {"call_id": "c2"})),
        Outcome.RESOLVED,
        "led to changes in turn 1 and no error came after",
    ),
    "waiting for the user": (
        (ASKED, EDIT, ("assistant", "There are two ways. Which one do you prefer?")),
        Outcome.PARTIAL,
        "turn 1 was never answered",
    ),
    "refused": (
        (("user", "Cancel my basic flight."), ("assistant", "Unfortunately, I'm unable to cancel that fare.")),
        Outcome.UNRESOLVED,
        "turn 1 it turned out not to be possible",
    ),
    "handed over": ((("user", "Cancel it."), TRANSFER), Outcome.UNRESOLVED, "turn 1 the matter was handed over"),
    "asked for a person": (
        (("user", "Cancel it."), ("assistant", "No."), ("user", "Transfer me to a human agent, please.")),
        Outcome.UNRESOLVED,
        "turn 2 the user asked for a person",
    ),
    "rejected at the end": (
        (ASKED, EDIT, ("decision", "Rejected Edit(a.py)", {"call_id": "c1"})),
        Outcome.UNRESOLVED,
        "stopped the work in turn 1",
    ),
    "tests failed last": (
        (ASKED, EDIT, TEST, TEST_FAILED, ("assistant", "The parser is fixed.")),
        Outcome.PARTIAL,
        "`pytest -q`), in turn 1, failed",
    ),
    "failed at the end": (
        (ASKED, EDIT, ("error", "API Error: 500"), ("assistant", "Hm.")),
        Outcome.PARTIAL,
        "last tool call of turn 1 failed",
    ),
    "content with what is no more": (
        (ASKED, EDIT, ("assistant", "Fixed the parser."), ("user", "Thanks, it no longer crashes!")),
        Outcome.RESOLVED,
        "turn 2 the user was content",
    ),
    "not content": (
        (ASKED, EDIT, ("assistant", "Fixed the parser."), ("user", "Thanks, but it still fails. Bye.")),
        Outcome.PARTIAL,
        "turn 2",
    ),
    "only questions": (
        (("user", "Why is the sky blue?"), ("assistant", "Short waves scatter more.")),
        Outcome.INFORMATIONAL,
        "answered in turn 1",
    ),
    "tests failed by what they print": (
        (ASKED, EDIT, TEST, ("tool_result", "3 passed, 2 failed", {"call_id": "c2"}), ("assistant", "Have a look.")),
        Outcome.PARTIAL,
        "in turn 1, failed",
    ),
    "done and tested": (
        (ASKED, EDIT, TEST, ("tool_result", "5 passed", {"call_id": "c2"}), ("assistant", "Fixed the parser.")),
        Outcome.RESOLVED,
        "the last test run, in turn 1, passed",
    ),
    "something put off": (
        (ASKED, EDIT, ("assistant", "Fixed the parser. The lexer has the same fault; that is for a separate PR.")),
        Outcome.PARTIAL,
        "turn 1 something was left for later",
    ),
    "an offer of the next step": (
        (ASKED, EDIT, ("assistant", "Fixed the parser. Want me to commit it?")),
        Outcome.PARTIAL,
        "“Want me to commit it?”",
    ),
    "put off by the user": (
        (
            ("user", "Cancel my order."),
            ("assistant", "I need the order number to go on."),
            ("user", "I'll try to find it and get back to you."),
            ("assistant", "Great, feel free to come back."),
        ),
        Outcome.UNRESOLVED,
        "turn 2 the user left it for another time",
    ),
    "declined, and kindly taken": (
        (
            ("user", "Cancel my flight ABC123."),
            ("assistant", "Unfortunately, your reservation cannot be cancelled."),
            ("user", "I see. Thank you for your help, bye!"),
            ("assistant", "You're welcome!"),
        ),
        Outcome.UNRESOLVED,
        "turn 1 it turned out not to be possible",
    ),
    "one thing declined, another done": (
        (
            ("user", "Cancel my flight ABC123 and book a room."),
            ("assistant", "Unfortunately, your flight cannot be cancelled. I can book the room."),
            ("user", "Yes, do that."),
            BOOK,
            ("assistant", "Your room has been booked for your reservation."),
        ),
        Outcome.PARTIAL,
        "turn 1 it turned out not to be possible",
    ),
    "a booking that failed": (
        (
            ("user", "Please book a room."),
            ("assistant", "I will do that for your reservation."),
            BOOK,
            ("error", "Error: payment method not found", {"call_id": "c3"}),
            ("assistant", "The payment method was updated, so all is confirmed."),
        ),
        Outcome.UNRESOLVED,
        "book room was tried in turn 1 and failed",
    ),
    "nothing asked": ((("user", "hi"), ("assistant", "hello")), Outcome.INFORMATIONAL, "No request"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_outcome_follows_from_the_evidence_and_cites_it(told: Told, case: str) -> None:
    entries, expected, reason = CASES[case]

    judgement = outcome(told, *entries)

    assert (judgement.outcome, judgement.is_sure) == (expected, True)
    assert reason in judgement.rationale


def test_two_people_who_talk_leave_nothing_to_resolve(told: Told) -> None:
    chat = [("user", "I like cats, and you?"), ("assistant", "I like dogs more."), ("user", "Dogs are nice too.")] * 4

    judgement = outcome(told, *chat, ("assistant", "They are."))

    assert judgement.outcome is Outcome.INFORMATIONAL
    assert "Turns 1 to 8 are a conversation" in judgement.rationale


def test_what_shows_nothing_is_called_unsure(told: Told) -> None:
    judgement = outcome(
        told, ASKED, EDIT, ("assistant", "Done."), ("user", "Now port the lexer."), ("assistant", "Hm.")
    )

    assert (judgement.outcome, judgement.is_sure) == (Outcome.PARTIAL, False)
    assert judgement.rationale.startswith("Unsure: nothing in turn 2")


@pytest.mark.parametrize("case", CASES)
def test_a_judgement_names_its_evidence_and_cites_turns_that_are_there(told: Told, case: str) -> None:
    transcript = told(*CASES[case][0])

    judgement = judge(Evidence(transcript))

    assert judgement.evidence
    assert judgement.turns
    assert {turn.number for turn in transcript.turns}.issuperset(judgement.turns)


def test_a_report_with_thanks_cites_the_change_the_report_and_the_thanks(told: Told) -> None:
    entries, *_ = CASES["done and thanked"]

    judgement = outcome(told, *entries)

    assert (judgement.evidence, judgement.turns) == ("report and closing words", (1, 2))


def test_a_transcript_without_turns_has_none_to_cite(told: Told) -> None:
    assert outcome(told).turns == ()


def test_a_summary_tells_the_turns_of_its_outcome(told: Told) -> None:
    assert summarize(told(*CASES["handed over"][0])).outcome_turns == (1,)


def test_a_refusal_is_overtaken_by_a_later_service_of_the_same_kind(told: Told) -> None:
    judgement = outcome(
        told,
        ("user", "Book a room for two."),
        ("assistant", "Unfortunately, a room for your booking is not available on Monday."),
        ("user", "Then on Tuesday."),
        BOOK,
        ("assistant", "Your room has been successfully booked."),
    )

    assert judgement.outcome is Outcome.RESOLVED


def test_what_was_put_off_and_taken_up_again_is_not_open(told: Told) -> None:
    judgement = outcome(
        told,
        ASKED,
        EDIT,
        ("assistant", "Fixed the parser. The lexer tables are for a separate PR."),
        ("user", "No, please fix the lexer tables too."),
        ("assistant", "Fixed the lexer tables."),
    )

    assert judgement.outcome is Outcome.RESOLVED


def test_a_report_of_which_no_call_tells_is_not_sure(told: Told) -> None:
    look = ("tool_call", "", {"tool": "get_order", "tool_input": {"id": 1}})

    judgement = outcome(told, ("user", "Please cancel order 1."), look, ("assistant", "Your order has been cancelled."))

    assert (judgement.outcome, judgement.is_sure) == (Outcome.RESOLVED, False)


def test_an_offer_after_an_answer_leaves_nothing_open(told: Told) -> None:
    judgement = outcome(
        told, ("user", "Why is the build slow?"), ("assistant", "It compiles twice. Want me to change that?")
    )

    assert judgement.outcome is Outcome.INFORMATIONAL


def test_a_call_id_that_is_used_again_belongs_to_the_latest_call(told: Told) -> None:
    evidence = Evidence(
        told(ASKED, EDIT, ("tool_result", "ok", {"call_id": "c1"}), EDIT, ("error", "no", {"call_id": "c1"}))
    )

    assert [call.id for call in evidence.changes] == [evidence.transcript.entries[1].id]


def test_a_test_run_that_the_user_rejected_has_not_failed(told: Told) -> None:
    rejected = ("decision", "Rejected Bash: too slow", {"call_id": "c2"})

    assert Evidence(told(ASKED, EDIT, TEST, rejected)).tests == []


def test_every_rule_decides_some_case(told: Told) -> None:
    deciding = {next(rule for rule in RULES if rule(Evidence(told(*entries)))) for entries, _, _ in CASES.values()}

    assert {rule.__name__ for rule in RULES} - {rule.__name__ for rule in deciding} == {
        "two_people_talked",
        "user_was_content",
        "was_answered",
    }


def test_thanks_alone_count_when_nothing_else_tells(told: Told) -> None:
    judgement = outcome(told, ("user", "Read me the menu."), ("assistant", "Soup."), ("user", "Thank you!"))

    assert judgement.outcome is Outcome.RESOLVED


def test_a_rationale_is_one_sentence_about_turns(told: Told) -> None:
    for entries, _, _ in CASES.values():
        rationale = outcome(told, *entries).rationale
        assert rationale.endswith(".")
        assert "\n" not in rationale
