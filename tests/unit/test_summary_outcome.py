"""How a session ended, and what that is judged from."""

from collections.abc import Callable
from typing import Any

import pytest

from nous.episode import Outcome
from nous.summary.evidence import Evidence
from nous.summary.outcome import RULES, Judgement, judge
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]
Entries = tuple[tuple[Any, ...], ...]

EDIT = ("tool_call", "Edit", {"tool": "Edit", "tool_input": {"file_path": "a.py"}, "call_id": "c1"})
TEST = ("tool_call", "Bash", {"tool": "Bash", "tool_input": {"command": "pytest -q 2>&1"}, "call_id": "c2"})
TEST_FAILED = ("tool_result", "2 failed", {"call_id": "c2", "is_error": True})
TRANSFER = ("tool_call", "", {"tool": "transfer_to_human_agents", "tool_input": {"summary": "x"}})
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
