"""Base of the readings of sessions: header, tokens, user messages, calls with results."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from nous.transcript.model import Kind
from nous.transcript.parsing.conversation import (
    UNKNOWN_CALL,
    ToolCall,
    call,
    draft_of_call,
    draft_of_result,
    drafts_of_user,
    outcome,
)
from nous.transcript.parsing.fields import JsonObject, filled, object_at, text_at
from nous.transcript.reader import Draft, RecordPlace, RecordReading

Templates = Mapping[str, tuple[Kind, str]]
"""Types of records with a text: the entry kind, and the template of the text over the record's fields."""


def digest_of(*texts: str) -> str:
    """Return a short digest that identifies *texts*."""
    return blake2b("\0".join(texts).encode(errors="replace"), digest_size=12).hexdigest()


@dataclass(slots=True)
class SessionReading(RecordReading):
    """Base reading of a session.

    `calls` are tool calls that wait for their results. `usage` maps answers to tokens (read, written). `seen` are ids
    or digests of emitted records. In a session of a sub-agent (`is_sub_agents`) another agent, not a person, wrote the
    user messages.
    """

    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    title: str = ""
    usage: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    seen: set[str] = field(default_factory=set[str])
    is_introduced: bool = False
    is_sub_agents: bool = False

    def conclude(self) -> Iterable[Draft]:
        read, written = self.tokens()
        self.notes.learn(title=self.title, input_tokens=read, output_tokens=written)
        return ()

    def tokens(self) -> tuple[int, int]:
        """Return the tokens of the whole session."""
        return sum(read for read, _ in self.usage.values()), sum(written for _, written in self.usage.values())

    def charge(self, read: int, written: int, answer: str) -> None:
        """Count the tokens of an *answer* once, though several records repeat or complete them."""
        known = self.usage.get(answer, (0, 0))
        self.usage[answer] = max(known, (read, written), key=lambda tokens: tokens[::-1])

    def add_tokens(self, read: int, written: int, book: str = "") -> None:
        """Add tokens to the sum named *book*."""
        known = self.usage.get(book, (0, 0))
        self.usage[book] = known[0] + read, known[1] + written

    def introduce(self, record: JsonObject) -> None:
        """Learn the header from the session's first message, a *record* like Claude Code's."""
        self.is_introduced, self.is_sub_agents = True, record.get("isSidechain") is True
        session, agent = text_at(record, "sessionId"), text_at(record, "agentId")
        is_named_apart = self.is_sub_agents and agent
        self.notes.learn(
            session_id=f"agent-{agent}" if is_named_apart else session,
            parent_session_id=session if is_named_apart else text_at(object_at(record, "forkedFrom"), "sessionId"),
            cwd=text_at(record, "cwd"),
            git_branch=text_at(record, "gitBranch"),
        )

    def skip(self, reason: str) -> Iterable[Draft]:
        """Count content that was skipped on purpose; return no drafts."""
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
        """Return drafts of a user message; the user's own words come first, joined together.

        A sub-agent's session has `SUB_AGENT` for `USER`.
        """
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
        self,
        text: str,
        call_id: str,
        place: RecordPlace,
        part: int = 0,
        *,
        is_error: bool = False,
        is_rejected: bool = False,
        is_decided: bool = False,
        tool: str = "",
    ) -> Draft:
        """Return the draft for the result of *call_id*: output, an error or a user decision."""
        made = self.calls.pop(call_id, None) or (call(tool, {}) if tool else UNKNOWN_CALL)
        came = outcome(text, of=made, is_error=is_error, is_rejected=is_rejected, is_decided=is_decided)
        return draft_of_result(came, made.tool or tool, call_id, place, part)

    def text_or_skip(
        self, kind: Kind, text: str, place: RecordPlace, reason: str, part: int = 0, *, is_meta: bool = False
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
        return self.text_or_skip(whose, filled(words, fields), place, f"empty {kind}")
