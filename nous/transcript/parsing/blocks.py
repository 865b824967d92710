"""Parser for the content blocks of Anthropic messages, from the API and from Claude Code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nous.transcript.model import Kind
from nous.transcript.parsing.conversation import AgentReading
from nous.transcript.parsing.values import as_list, as_object, as_text
from nous.transcript.reader import Draft, RecordPlace

Block = Mapping[str, Any]


@dataclass(slots=True)
class BlockReading(AgentReading):
    """Turns the content of successive messages into drafts of entries."""

    def of_user(
        self,
        content: object,
        place: RecordPlace,
        *,
        is_meta: bool = False,
        is_rejected: bool = False,
        is_decided: bool = False,
    ) -> list[Draft]:
        """Return drafts of a user message: one per tool result, then the user's own text.

        With *is_meta* the text becomes system text, because no person wrote it. *is_rejected* and *is_decided* apply to
        the tool results; see `outcome`.
        """
        drafts: list[Draft] = []
        said: list[str] = []
        if not content:
            self.notes.skip("empty message")
        for part, block in enumerate(blocks_in(content)):
            match block.get("type"):
                case "text":
                    said.append(as_text(block.get("text")))
                case "tool_result":
                    drafts.append(self._result(block, place, part, is_rejected=is_rejected, is_decided=is_decided))
                case kind:
                    self.notes.skip(f"{kind} block")
        if is_meta:
            drafts += (place.draft(Kind.SYSTEM, text, part, is_meta=True) for part, text in enumerate(said) if text)
        elif said:
            drafts += self.said(said, place)
        return drafts

    def of_assistant(self, content: object, place: RecordPlace, *, message: str) -> list[Draft]:
        """Return drafts of a model message: text, thinking and tool calls, in block order.

        Text gets the id *message*, so that the parts of one answer can be merged. Thinking and calls get ids from
        *place*.
        """
        drafts: list[Draft] = []
        if not content:
            self.notes.skip("empty message")
        for part, block in enumerate(blocks_in(content)):
            match block.get("type"):
                case "text":
                    if text := as_text(block.get("text")).strip():
                        drafts.append(Draft(Kind.ASSISTANT, text, message, place.time, place.line, place.offset))
                    else:
                        self.notes.skip("empty text")
                case "thinking":
                    if text := as_text(block.get("thinking")).strip():
                        drafts.append(place.draft(Kind.THINKING, text, part))
                    else:
                        self.notes.skip("empty thinking")
                case "tool_use" | "server_tool_use":
                    tool, given = as_text(block.get("name")), as_object(block.get("input"))
                    drafts.append(self.call(tool, given, as_text(block.get("id")), place, part))
                case kind:
                    self.notes.skip(f"{kind} block")
        return drafts

    def _result(self, block: Block, place: RecordPlace, part: int, *, is_rejected: bool, is_decided: bool) -> Draft:
        content = block.get("content")
        if not isinstance(content, str):
            for inner in blocks_in(content):
                if inner.get("type") != "text":
                    self.notes.skip(f"{inner.get('type')} block")
        return self.result(
            text_of(content),
            as_text(block.get("tool_use_id")),
            place,
            part,
            is_error=block.get("is_error") is True,
            is_rejected=is_rejected,
            is_decided=is_decided,
        )


def text_of(content: object) -> str:
    """Return the text in *content*, a string or a list of blocks."""
    if isinstance(content, str):
        return content
    texts = (block.get("text") for block in blocks_in(content) if block.get("type", "text") == "text")
    return "\n\n".join(map(as_text, texts))


def blocks_in(content: object) -> Sequence[Block]:
    """Return *content* as blocks; a string becomes one text block."""
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    if isinstance(content, dict):
        return (as_object(content),)
    blocks = as_list(content)
    for block in blocks:
        if not isinstance(block, dict):
            return [found for block in blocks if (found := _as_block(block))]
    return blocks


def _as_block(value: object) -> Block:
    return {"type": "text", "text": value} if isinstance(value, str) else as_object(value)
