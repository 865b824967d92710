"""Base class of session parsers: user text, call/result pairing, metadata."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.fields import JsonObject, TemplateFields, text_at
from nous.transcript.parsing.user_text import (
    INJECTED,
    INTERRUPTED,
    has_insertions,
    said_by_user,
    without_colour,
    without_insertions,
)
from nous.transcript.reader import Draft, RecordPlace, RecordReading
from nous.transcript.tool_summary import extract_tool_summary, paths_touched

QUESTION_TOOLS = frozenset({"AskUserQuestion", "ask_user", "ask_user_question", "AskQuestion", "AskUser", "question"})
PLAN_TOOLS = frozenset({"ExitPlanMode", "exit_plan_mode"})

REJECTED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
)
_REASON = re.compile(r"(?:the user said|reason for the rejection):\s*(?P<reason>.+)", re.DOTALL)
_TURN = "the turn"  # what a user may interrupt, beside a call
_STATED = re.compile(r"The user (?P<what>rejected|interrupted) ")
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
    tool: str
    summary: str


class ToolOutcome(NamedTuple):
    kind: Kind
    text: str


UNKNOWN_CALL = ToolCall("", "a tool call")


def call(tool: str, tool_input: Mapping[str, Any], paths: Sequence[str] = ()) -> ToolCall:
    return ToolCall(tool, extract_tool_summary(tool, tool_input, paths) or tool or UNKNOWN_CALL.summary)


def outcome(
    text: str, *, of: ToolCall, is_error: bool = False, is_rejected: bool = False, is_decided: bool = False
) -> ToolOutcome:
    """Classify the result *text* of the call *of*.

    A rejection is a user decision even if the program reports it as an error. Output may read like an answer or an
    approval, but only question and plan tools have one. *is_decided* allows it for an unknown tool, if the program
    says elsewhere that the user decided.
    """
    text = without_insertions(without_colour(text))
    if is_rejected or (is_error and text.startswith(REJECTED)):
        return ToolOutcome(Kind.DECISION, rejection(text, of))
    if is_error and text.startswith(INTERRUPTED):
        return ToolOutcome(Kind.DECISION, f"Interrupted {_what(of)}")
    is_decided = is_decided and not of.tool
    has_failed = text.startswith(_FAILED) or _EXIT_CODE.match(text) is not None
    if not has_failed and (of.tool in QUESTION_TOOLS or is_decided):
        if text.startswith(_DECLINED):
            return ToolOutcome(Kind.DECISION, text)
        if not is_error and (of.tool in QUESTION_TOOLS or _ANSWERED.match(text)) and text:
            answer = _AFTERWORD.sub("", _ANSWERED.sub("", text, count=1)).strip()
            return ToolOutcome(Kind.DECISION, f"Answered: {answer}")
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
    """Return the text of a rejection by the user, with the reason if *text* gives one.

    Our own text form states both.
    """
    stated = _STATED.match(text)
    if stated and text[stated.end() :].startswith((_what(of), of.tool or UNKNOWN_CALL.summary, _TURN)):
        return f"{stated['what'].capitalize()} {text[stated.end() :]}"
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
    for number, (given, part) in enumerate(zip(texts, parts, strict=True)):
        if part.kind is not None and has_insertions(given):
            notes.skip(INJECTED)
        if part.kind is None:
            notes.skip(part.text)
        elif part.kind is not Kind.USER:
            drafts.append(place.draft(part.kind, part.text, number))
    return drafts


def draft_of_call(
    tool: str, tool_input: dict[str, Any], call_id: str, place: RecordPlace, part: int = 0, *, text: str = ""
) -> Draft:
    paths = paths_touched(tool, tool_input)
    about = {"tool": tool or None, "tool_input": tool_input, "call_id": call_id or None, "paths": paths}
    return place.draft(Kind.TOOL_CALL, text or call(tool, tool_input, paths).summary, part, **about)


def draft_of_result(came: ToolOutcome, tool: str, call_id: str, place: RecordPlace, part: int = 0) -> Draft:
    about = {"tool": tool or None, "call_id": call_id or None, "is_error": came.kind is Kind.ERROR}
    return place.draft(came.kind, came.text, part, **about)


Templates = Mapping[str, tuple[Kind, str]]
"""Types of records with a text: the entry kind, and the template of the text over the record's fields."""


def digest_of(*texts: str) -> str:
    return blake2b("\0".join(texts).encode(errors="replace"), digest_size=12).hexdigest()


@dataclass(slots=True)
class SessionReading(RecordReading):
    """Base reading of a session.

    `calls` wait for their results. `seen` are ids or digests of records. If `is_sub_agents`, another agent, not a
    person, wrote the user messages.
    """

    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    title: str = ""
    seen: set[str] = field(default_factory=set[str])
    is_introduced: bool = False
    is_sub_agents: bool = False

    def conclude(self) -> Iterable[Draft]:
        self.notes.learn(title=self.title)
        return ()

    def introduce(self, record: JsonObject) -> None:
        """Learn the header from the session's first message, a *record* like Claude Code's."""
        self.is_introduced, self.is_sub_agents = True, record.get("isSidechain") is True
        session, agent = text_at(record, "sessionId"), text_at(record, "agentId")
        is_named_apart = self.is_sub_agents and agent
        self.notes.learn(
            session_id=f"agent-{agent}" if is_named_apart else session,
            cwd=text_at(record, "cwd"),
            git_branch=text_at(record, "gitBranch"),
        )

    def skip(self, reason: str) -> Iterable[Draft]:
        self.notes.skip(reason)
        return ()

    def is_repeated(self, mark: str, reason: str = "repeated record") -> bool:
        """Return whether *mark* was seen before, counted by *reason*; otherwise remember it."""
        if mark in self.seen:
            self.notes.skip(reason)
            return True
        self.seen.add(mark)
        return False

    def said(self, texts: Sequence[str], place: RecordPlace) -> list[Draft]:
        """Return drafts of a user message; in a sub-agent's session, `SUB_AGENT` stands for `USER`."""
        drafts = drafts_of_user(texts, place, self.notes)
        for draft in drafts if self.is_sub_agents else ():
            draft.kind = Kind.SUB_AGENT if draft.kind is Kind.USER else draft.kind
        return drafts

    def call(self, tool: str, tool_input: dict[str, Any], call_id: str, place: RecordPlace, part: int = 0) -> Draft:
        """Return the draft of a tool call, and remember the call until its result arrives."""
        draft = draft_of_call(tool, tool_input, call_id, place, part)
        if call_id:
            self.calls[call_id] = ToolCall(tool, draft.text)
        return draft

    def result(
        self, text: str, call_id: str, place: RecordPlace, part: int = 0, *, tool: str = "", **how: bool
    ) -> Draft:
        """Return the draft for the result of *call_id*; *how* it ended is for `outcome`."""
        made = self.calls.pop(call_id, None) or (call(tool, {}) if tool else UNKNOWN_CALL)
        return draft_of_result(outcome(text, of=made, **how), made.tool or tool, call_id, place, part)

    def made(self, call_id: str) -> ToolCall:
        return self.calls.get(call_id, UNKNOWN_CALL)

    def verdict(self, words: str, call_id: str, place: RecordPlace, part: int = 0, *, is_yes: bool) -> Draft:
        """Return the draft of the user's yes with its scope, or of a no with its reason."""
        made = self.made(call_id)
        text = f"Approved {made.summary}{words}" if is_yes else rejection(words, made)
        return self.decision(text, call_id, place, part)

    def decision(self, text: str, call_id: str, place: RecordPlace, part: int = 0) -> Draft:
        tool = self.made(call_id).tool
        return place.draft(Kind.DECISION, text, part, tool=tool or None, call_id=call_id or None)

    def text_or_skip(
        self,
        kind: Kind,
        text: str,
        place: RecordPlace,
        reason: str = "empty message",
        part: int = 0,
        *,
        is_meta: bool = False,
    ) -> Iterable[Draft]:
        """Return the draft of *text*; none if it is empty, counted by *reason*."""
        if text := text.strip():
            return (place.draft(kind, text, part, is_error=kind is Kind.ERROR, is_meta=is_meta),)
        return self.skip(reason)

    def from_template(self, templates: Templates, kind: str, fields: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the draft of a record whose *kind* has a template; count any other as skipped."""
        if kind not in templates:
            return self.skip(kind)
        whose, words = templates[kind]
        return self.text_or_skip(whose, words.format_map(TemplateFields(fields)), place, f"empty {kind}")
