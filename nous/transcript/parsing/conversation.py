"""Base parser for agent sessions: user messages, and tool calls paired with results."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.user_text import said_by_user, without_colour, without_insertions
from nous.transcript.reader import Draft, RecordPlace
from nous.transcript.tool_summary import extract_tool_summary, paths_touched

QUESTION_TOOLS = frozenset({"AskUserQuestion", "ask_user", "ask_user_question", "AskQuestion", "AskUser", "question"})
PLAN_TOOLS = frozenset({"ExitPlanMode", "exit_plan_mode"})

REJECTED = (
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


class ToolCall(NamedTuple):
    """A tool call that waits for its result."""

    tool: str
    summary: str


class ToolOutcome(NamedTuple):
    """Classified result of a tool call: entry kind and text."""

    kind: Kind
    text: str


UNKNOWN_CALL = ToolCall("", "a tool call")


def call(tool: str, tool_input: Mapping[str, Any]) -> ToolCall:
    return ToolCall(tool, extract_tool_summary(tool, tool_input) or tool or UNKNOWN_CALL.summary)


def outcome(
    text: str, *, of: ToolCall, is_error: bool, is_rejected: bool = False, is_decided: bool = False
) -> ToolOutcome:
    """Classify the result *text* of the call *of*.

    A rejection is a user decision even if the program reports it as an error. Tool output may read like an answer or an
    approval, but only question and plan tools have one. If the tool is unknown, *is_decided* allows it too: the program
    says elsewhere that the user decided.
    """
    text = without_insertions(without_colour(text))
    if is_rejected or (is_error and text.startswith(REJECTED)):
        return ToolOutcome(Kind.DECISION, rejection(text, of))
    if is_error and text.startswith(_INTERRUPTED):
        return ToolOutcome(Kind.DECISION, f"Interrupted {_what(of)}")
    is_decided = is_decided and not of.tool
    has_failed = text.startswith(_FAILED) or _EXIT_CODE.match(text) is not None
    if not has_failed and (of.tool in QUESTION_TOOLS or is_decided):
        if text.startswith(_DECLINED):
            return ToolOutcome(Kind.DECISION, text)
        if not is_error and (of.tool in QUESTION_TOOLS or _ANSWERED.match(text)) and text:
            return ToolOutcome(
                Kind.DECISION, f"Answered: {_AFTERWORD.sub('', _ANSWERED.sub('', text, count=1)).strip()}"
            )
    if of.tool in PLAN_TOOLS or is_decided:
        if text.startswith(_NOT_APPROVED):
            return ToolOutcome(Kind.DECISION, rejection(text, of))
        plan = _PLAN.search(text)
        if not is_error and (plan or text.startswith(_APPROVED)):
            title = f": {plan['title'].strip()}" if plan else ""
            return ToolOutcome(Kind.DECISION, f"Approved the plan{title}")
    if is_error or has_failed:
        return ToolOutcome(Kind.ERROR, _ERROR_TAGS.sub("", text).strip())
    return ToolOutcome(Kind.TOOL_RESULT, text)


def rejection(text: str, of: ToolCall) -> str:
    """Return the text of a rejection by the user, with the reason if *text* gives one."""
    given = _REASON.search(text)
    reason = given["reason"] if given else "" if text.startswith(REJECTED) else text
    return f"Rejected {_what(of)}: {reason.strip()}" if reason.strip() else f"Rejected {_what(of)}"


def _what(of: ToolCall) -> str:
    return "the plan" if of.tool in PLAN_TOOLS else of.summary


def drafts_of_user(texts: Sequence[str], place: RecordPlace, notes: ReadNotes) -> list[Draft]:
    """Return drafts of a user message; the user's own words come first, joined together."""
    parts = [said_by_user(text) for text in texts]
    words = "\n\n".join(part.text for part in parts if part.kind is Kind.USER)
    drafts = [place.draft(Kind.USER, words)] if words else []
    for number, part in enumerate(parts):
        if part.kind is None:
            notes.skip(part.text)
        elif part.kind is not Kind.USER:
            drafts.append(place.draft(part.kind, part.text, number))
    return drafts


def draft_of_call(
    tool: str, tool_input: dict[str, Any], call_id: str, place: RecordPlace, part: int = 0, *, text: str = ""
) -> Draft:
    draft = place.draft(Kind.TOOL_CALL, text or call(tool, tool_input).summary, part)
    draft.tool = tool or None
    draft.tool_input = tool_input
    draft.call_id = call_id or None
    draft.paths = paths_touched(tool, tool_input)
    return draft


def draft_of_result(came: ToolOutcome, tool: str, call_id: str, place: RecordPlace, part: int = 0) -> Draft:
    draft = place.draft(came.kind, came.text, part)
    draft.tool = tool or None
    draft.call_id = call_id or None
    draft.is_error = came.kind is Kind.ERROR
    return draft
