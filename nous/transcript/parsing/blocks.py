"""Parse Anthropic-style content blocks of messages into draft transcript entries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nous.transcript.model import Kind
from nous.transcript.parsing.fields import JsonObject, object_at, text_at
from nous.transcript.parsing.sessions import SessionReading
from nous.transcript.parsing.values import as_list, as_object, as_text
from nous.transcript.reader import Draft, RecordPlace


@dataclass(slots=True)
class BlockReading(SessionReading):
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

        With *is_meta* no person wrote the text. *is_rejected* and *is_decided* are those of `outcome`.
        """
        drafts: list[Draft] = []
        said: list[str] = []
        if not content:
            self.notes.skip("empty message")
        for part, block in enumerate(blocks_in(content)):
            match block.get("type"):
                case "text":
                    said.append(text_at(block, "text"))
                case "tool_result":
                    own, failed = text_at(block, "tool_use_id"), block.get("is_error") is True
                    text = self.text(block.get("content"))
                    drafts.append(
                        self.result(
                            text, own, place, part, is_error=failed, is_rejected=is_rejected, is_decided=is_decided
                        )
                    )
                case kind:
                    self.notes.skip(f"{kind} block")
        if is_meta:
            drafts += (place.draft(Kind.SYSTEM, text, part, is_meta=True) for part, text in enumerate(said) if text)
        elif said:
            drafts += self.said(said, place)
        return drafts

    def of_assistant(self, content: object, place: RecordPlace, *, message: str) -> list[Draft]:
        """Return drafts of a model message; all its text gets the id *message*, to be merged."""
        drafts: list[Draft] = []
        if not content:
            self.notes.skip("empty message")
        for part, block in enumerate(blocks_in(content)):
            match block.get("type"):
                case "text":
                    for draft in self.text_or_skip(Kind.ASSISTANT, text_at(block, "text"), place, "empty text"):
                        draft.id = message
                        drafts.append(draft)
                case "thinking":
                    thought = text_at(block, "thinking")
                    drafts += self.text_or_skip(Kind.THINKING, thought, place, "empty thinking", part)
                case "tool_use" | "server_tool_use":
                    tool, given = text_at(block, "name"), object_at(block, "input")
                    drafts.append(self.call(tool, given, text_at(block, "id"), place, part))
                case kind:
                    self.notes.skip(f"{kind} block")
        return drafts

    def text(self, content: object) -> str:
        return content if isinstance(content, str) else "\n\n".join(filter(None, self.texts(content)))

    def texts(self, content: object) -> list[str]:
        """Return the texts in *content*, a string or blocks; count other blocks as skipped."""
        texts: list[str] = []
        for block in blocks_in(content):
            if block.get("type", "text") == "text" and isinstance(text := block.get("text"), str):
                texts.append(text)
            else:
                self.notes.skip(f"{block.get('type')} block")
        return texts


def text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    texts = (block.get("text") for block in blocks_in(content) if block.get("type", "text") == "text")
    return "\n\n".join(map(as_text, texts))


def blocks_in(content: object) -> Sequence[JsonObject]:
    """Return *content* as blocks; a string becomes one text block."""
    found: list[Any] = as_list(content) if isinstance(content, list) else [content]
    if len(found) == 1 and found[0] and isinstance(found[0], dict):  # nearly every message of Claude Code
        return found
    blocks = [{"type": "text", "text": inner} if isinstance(inner, str) else as_object(inner) for inner in found]
    return list(filter(None, blocks))
