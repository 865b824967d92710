"""What the sessions of all agents have in common: a user who says something, and tools that are called and answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.base import Draft, Place, RecordReading
from nous.transcript.model import Kind
from nous.transcript.reading.results import UNKNOWN_CALL, Call, call, outcome
from nous.transcript.reading.words import said_by_user
from nous.transcript.tools.touched import paths_touched


@dataclass(slots=True)
class AgentReading(RecordReading):
    """A reading that remembers calls until their results come."""

    calls: dict[str, Call] = field(default_factory=dict[str, Call])

    def said(self, texts: Sequence[str], place: Place) -> list[Draft]:
        """What stands in the place of a user's message, the user's own words first and together."""
        parts = [said_by_user(text) for text in texts]
        for part in parts:
            if part.kind is None:
                self.notes.skip(part.text)
        words = "\n\n".join(part.text for part in parts if part.kind is Kind.USER)
        drafts = [place.draft(Kind.USER, words)] if words else []
        drafts += (
            place.draft(part.kind, part.text, number)
            for number, part in enumerate(parts)
            if part.kind not in {None, Kind.USER} and part.kind
        )
        return drafts

    def call(self, tool: str, tool_input: dict[str, Any], call_id: str, place: Place, part: int = 0) -> Draft:
        """A call, which is remembered until its result comes."""
        made = call(tool, tool_input)
        if call_id:
            self.calls[call_id] = made
        draft = place.draft(Kind.TOOL_CALL, made.summary, part)
        draft.tool = tool or None
        draft.tool_input = tool_input
        draft.call_id = call_id or None
        draft.paths = paths_touched(tool, tool_input)
        return draft

    def result(
        self,
        text: str,
        call_id: str,
        place: Place,
        part: int = 0,
        *,
        is_error: bool = False,
        is_rejected: bool = False,
        is_decided: bool = False,
        tool: str = "",
    ) -> Draft:
        """What came of the call *call_id*: output, an error, or the user's decision."""
        made = self.calls.pop(call_id, None) or (call(tool, {}) if tool else UNKNOWN_CALL)
        came = outcome(text, of=made, is_error=is_error, is_rejected=is_rejected, is_decided=is_decided)
        draft = place.draft(came.kind, came.text, part)
        draft.tool = made.tool or tool or None
        draft.call_id = call_id or None
        draft.is_error = came.kind is Kind.ERROR
        return draft
