"""What tools were called for, and what came of it: output, an error, or a decision of the user."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from nous.transcript.model import Kind
from nous.transcript.reading.words import without_colour, without_insertions
from nous.transcript.tools.summary import extract_tool_summary

QUESTION_TOOLS = frozenset({"AskUserQuestion", "ask_user", "ask_user_question", "AskQuestion", "AskUser", "question"})
PLAN_TOOLS = frozenset({"ExitPlanMode", "exit_plan_mode"})

_REJECTED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
)
_INTERRUPTED = "[Request interrupted by user"
_REASON = re.compile(r"(?:the user said|reason for the rejection):\s*(?P<reason>.+)", re.DOTALL)
_ANSWERED = re.compile(r"(?:User has answered your questions|Your questions have been answered):\s*", re.IGNORECASE)
_AFTERWORD = re.compile(r"\.? *You can now continue with (?:the user's|these) answers in mind\.?\s*$")
_APPROVED = ("User has approved", "User approved", "Plan approved")
_DECLINED = ("User declined", "The user declined", "User dismissed")
_NOT_APPROVED = ("Plan rejected", "Plan not approved", "User rejected", "User has rejected")
_PLAN = re.compile(r"^## Approved Plan[^\n]*\n+(?:#+ *)?(?P<title>[^\n]+)", re.MULTILINE)
_FAILED = ("<tool_use_error>",)
_EXIT_CODE = re.compile(r"Exit code -?[1-9]")
_ERROR_TAGS = re.compile(r"</?tool_use_error>")


class Call(NamedTuple):
    """A tool call that waits for its result."""

    tool: str
    summary: str


class Outcome(NamedTuple):
    """What came of a call, in words."""

    kind: Kind
    text: str


UNKNOWN_CALL = Call("", "a tool call")


def call(tool: str, tool_input: Mapping[str, Any]) -> Call:
    return Call(tool, extract_tool_summary(tool, tool_input) or tool or UNKNOWN_CALL.summary)


def outcome(text: str, *, of: Call, is_error: bool, is_rejected: bool = False, is_decided: bool = False) -> Outcome:
    """Judge the *text* that came back. A rejection is the user's decision, whatever the program calls it.

    What a tool puts out may read like an answer or an approval, but only a question or a plan has one; unless the
    program says elsewhere that something was *decided*.
    """
    text = without_insertions(without_colour(text))
    if is_rejected or (is_error and text.startswith(_REJECTED)):
        return Outcome(Kind.DECISION, rejection(text, of))
    if is_error and text.startswith(_INTERRUPTED):
        return Outcome(Kind.DECISION, f"Interrupted {_what(of)}")
    is_decided = is_decided and not of.tool
    has_failed = text.startswith(_FAILED) or _EXIT_CODE.match(text) is not None
    if not has_failed and (of.tool in QUESTION_TOOLS or is_decided):
        if text.startswith(_DECLINED):
            return Outcome(Kind.DECISION, text)
        if not is_error and (of.tool in QUESTION_TOOLS or _ANSWERED.match(text)) and text:
            return Outcome(Kind.DECISION, f"Answered: {_AFTERWORD.sub('', _ANSWERED.sub('', text, count=1)).strip()}")
    if of.tool in PLAN_TOOLS or is_decided:
        if text.startswith(_NOT_APPROVED):
            return Outcome(Kind.DECISION, rejection(text, of))
        plan = _PLAN.search(text)
        if not is_error and (plan or text.startswith(_APPROVED)):
            title = f": {plan['title'].strip()}" if plan else ""
            return Outcome(Kind.DECISION, f"Approved the plan{title}")
    if is_error or has_failed:
        return Outcome(Kind.ERROR, _ERROR_TAGS.sub("", text).strip())
    return Outcome(Kind.TOOL_RESULT, text)


def rejection(text: str, of: Call) -> str:
    """The user's no to a call, with the reason if *text* gives one."""
    given = _REASON.search(text)
    reason = given["reason"] if given else "" if text.startswith(_REJECTED) else text
    return f"Rejected {_what(of)}: {reason.strip()}" if reason.strip() else f"Rejected {_what(of)}"


def _what(of: Call) -> str:
    return "the plan" if of.tool in PLAN_TOOLS else of.summary
