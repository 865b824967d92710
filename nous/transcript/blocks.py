"""The content blocks of Anthropic messages, as the API takes them and Claude Code keeps them."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from nous.transcript.base import Notes
from nous.transcript.fields import as_list, as_object, as_text
from nous.transcript.model import Entry, Kind
from nous.transcript.results import UNKNOWN_CALL, Call, call, outcome
from nous.transcript.words import said_by_user


class Place(NamedTuple):
    """Where a message stands, and what its entries are called after."""

    id: str
    line: int
    offset: int
    time: datetime | None = None

    def entry(self, kind: Kind, text: str, *, part: int = 0, **more: Any) -> Entry:
        """The *part*-th entry of the message."""
        own = f"{self.id}/{part}" if part else self.id
        return Entry(kind=kind, text=text, id=own, time=self.time, line=self.line, offset=self.offset, **more)


class Blocks:
    """Turns the content of one message after another into entries. It remembers calls until their results come."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._calls: dict[str, Call] = {}

    def of_user(
        self, content: object, place: Place, *, is_meta: bool = False, is_rejected: bool = False
    ) -> Iterator[Entry]:
        """The results of tools, each for itself, then what the user said. Text of a *meta* message is nobody's."""
        said: list[str] = []
        for part, block in enumerate(_blocks(content)):
            match block.get("type"):
                case "text":
                    said.append(as_text(block.get("text")))
                case "tool_result":
                    yield self._result(block, place, part=part, is_rejected=is_rejected)
                case kind:
                    self._notes.skip(f"{kind} block")
        if any(said):
            yield from self._said(said, place, is_meta=is_meta)

    def of_assistant(self, content: object, place: Place, *, message: str) -> Iterator[Entry]:
        """What the model said, under the id of its *message*, and what it called, under that of its *place*."""
        for part, block in enumerate(_blocks(content)):
            match block.get("type"):
                case "text":
                    if text := as_text(block.get("text")).strip():
                        yield place._replace(id=message).entry(Kind.ASSISTANT, text)
                case "thinking":
                    if text := as_text(block.get("thinking")).strip():
                        yield place.entry(Kind.THINKING, text, part=part)
                case "tool_use" | "server_tool_use":
                    yield self._call(block, place, part=part)
                case kind:
                    self._notes.skip(f"{kind} block")

    def _said(self, said: list[str], place: Place, *, is_meta: bool) -> Iterator[Entry]:
        if is_meta:
            self._notes.skip("meta message")
            return
        parts = [said_by_user(text) for text in said if text]
        for part in parts:
            if part.kind is None:
                self._notes.skip(part.text)
        words = "\n\n".join(part.text for part in parts if part.kind is Kind.USER)
        if words:
            yield place.entry(Kind.USER, words)
        for number, part in enumerate(parts):
            if part.kind not in {None, Kind.USER}:
                yield place.entry(part.kind or Kind.SYSTEM, part.text, part=number)

    def _call(self, block: Mapping[str, Any], place: Place, *, part: int) -> Entry:
        tool, call_id = as_text(block.get("name")), as_text(block.get("id"))
        tool_input = as_object(block.get("input"))
        self._calls[call_id] = made = call(tool, tool_input)
        return place.entry(
            Kind.TOOL_CALL, made.summary, part=part, tool=tool, tool_input=tool_input, call_id=call_id or None
        )

    def _result(self, block: Mapping[str, Any], place: Place, *, part: int, is_rejected: bool) -> Entry:
        call_id = as_text(block.get("tool_use_id"))
        made = self._calls.get(call_id, UNKNOWN_CALL)
        came = outcome(
            self._flat(block.get("content")), of=made, is_error=block.get("is_error") is True, is_rejected=is_rejected
        )
        return place.entry(
            came.kind,
            came.text,
            part=part,
            tool=made.tool or None,
            call_id=call_id or None,
            is_error=came.kind is Kind.ERROR,
        )

    def _flat(self, content: object) -> str:
        for block in _blocks(content):
            if block.get("type") != "text":
                self._notes.skip(f"{block.get('type')} block")
        return text_of(content)


def text_of(content: object) -> str:
    """The text in *content*, which is a string or a list of blocks."""
    return "\n\n".join(as_text(block.get("text")) for block in _blocks(content) if block.get("type", "text") == "text")


def _blocks(content: object) -> list[Mapping[str, Any]]:
    """*content* as blocks: a string is one of text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    found = (({"type": "text", "text": block} if isinstance(block, str) else block) for block in as_list(content))
    return [block for block in found if isinstance(block, dict)]
