import pytest

from nous.transcript import Kind
from nous.transcript.parsing.sessions import UNKNOWN_CALL, ToolCall, call, outcome

EDIT = call("Edit", {"file_path": "/a.go"})
PLAN = call("ExitPlanMode", {"plan": "..."})
QUESTION = call("AskUserQuestion", {})
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. ...). "


ANSWERED = 'User has answered your questions: "Where?"="Here". You can now continue with the user\'s answers in mind.'


@pytest.mark.parametrize(
    ("made", "text", "decision"),
    [
        (EDIT, f"{REFUSED}To tell you more, the user said:\nuse a switch", "Rejected Edit(/a.go): use a switch"),
        (EDIT, REFUSED + "STOP what you are doing and wait.", "Rejected Edit(/a.go)"),
        (EDIT, REFUSED + "The user provided the following reason for the rejection:  no", "Rejected Edit(/a.go): no"),
        (EDIT, "The user doesn't want to take this action right now. STOP", "Rejected Edit(/a.go)"),
        (EDIT, "[Request interrupted by user for tool use]", "Interrupted Edit(/a.go)"),
        (PLAN, REFUSED, "Rejected the plan"),
        (UNKNOWN_CALL, REFUSED, "Rejected a tool call"),
        (QUESTION, ANSWERED, 'Answered: "Where?"="Here"'),
        (QUESTION, "Here, please", "Answered: Here, please"),
        (PLAN, "User has approved your plan. You can now start coding.", "Approved the plan"),
        (PLAN, "Go.\n\n## Approved Plan:\n# Plan: Inline it\n\nText", "Approved the plan: Plan: Inline it"),
    ],
)
def test_a_rejection_an_answer_and_an_approval_are_decisions(made: ToolCall, text: str, decision: str) -> None:
    is_error = decision.startswith(("Rejected", "Interrupted"))

    assert outcome(text, of=made, is_error=is_error) == (Kind.DECISION, decision)


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ('Your questions have been answered: "Where?"="Here"', 'Answered: "Where?"="Here"'),
        ("User has approved exiting plan mode.", "Approved the plan"),
    ],
)
def test_what_reads_like_a_decision_is_one_only_if_the_program_says_so(text: str, decision: str) -> None:
    assert outcome(text, of=UNKNOWN_CALL, is_error=False, is_decided=True) == (Kind.DECISION, decision)
    assert outcome(text, of=UNKNOWN_CALL, is_error=False) == (Kind.TOOL_RESULT, text)
    assert outcome(text, of=ToolCall("Bash", "Bash"), is_error=False, is_decided=True) == (Kind.TOOL_RESULT, text)


def test_who_declines_to_answer_has_decided_and_a_plan_that_nobody_approved_is_none() -> None:
    assert outcome("User declined to answer questions", of=QUESTION, is_error=True).kind is Kind.DECISION
    assert outcome("Plan rejected: too long", of=PLAN, is_error=False).text.startswith("Rejected the plan")
    assert outcome("Still planning", of=PLAN, is_error=False).kind is Kind.TOOL_RESULT


@pytest.mark.parametrize(
    ("text", "is_error", "shown"),
    [
        ("<tool_use_error>File does not exist.</tool_use_error>", True, "File does not exist."),
        ("<tool_use_error>No such tool</tool_use_error>", False, "No such tool"),
        ("Exit code 128\nfatal: bad", False, "Exit code 128\nfatal: bad"),
        ("EISDIR", True, "EISDIR"),
    ],
)
def test_a_failure_is_an_error(text: str, is_error: bool, shown: str) -> None:  # noqa: FBT001  a case of the table
    for made in (EDIT, QUESTION):
        assert outcome(text, of=made, is_error=is_error) == (Kind.ERROR, shown)


def test_output_loses_colours_and_reminders() -> None:
    text = "\x1b[1mdone\x1b[0m\n<system-reminder>Use the list.</system-reminder>"

    assert outcome(text, of=EDIT, is_error=False) == (Kind.TOOL_RESULT, "done")
    assert outcome(f"grep: {REFUSED}", of=EDIT, is_error=False).kind is Kind.TOOL_RESULT
