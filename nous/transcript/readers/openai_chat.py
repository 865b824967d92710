"""Reader for Chat Completions messages.

Accepts a list of messages, an object or lines of objects with `messages`, or one message per line. There are no error
flags: a result that begins with `Error` is one. Arguments are JSON in a string.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.chat import ChatReading, look
from nous.transcript.parsing.plain_chat import reports_failure
from nous.transcript.parsing.values import as_arguments, as_list, as_object
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})


class OpenAIChat:
    """Reads Chat Completions, and lists of `{role, content}` from other programs."""

    format = "openai_chat"

    def sniff(self, sample: Sample) -> float:
        seen = look(sample)
        if not seen.is_chat:
            return 0.0
        return 0.9 if seen.is_openai else 0.6

    def begin(self, notes: ReadNotes) -> Reading:
        return _Conversation(notes)


READER = OpenAIChat()


@dataclass(slots=True)
class _Conversation(ChatReading):
    """The conversation in a request."""

    def message(self, role: str, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        content = self._text(value.get("content"))
        match role:
            case "user":
                return self.said([content], place)
            case "assistant":
                return self._answered(content or str(value.get("refusal") or ""), value, place)
            case "tool" | "function":
                own = str(value.get("tool_call_id") or value.get("name") or "")
                failed = reports_failure(content)
                return (self.result(content, own, place, is_error=failed, tool=str(value.get("name") or "")),)
            case _:
                return (place.draft(Kind.SYSTEM, content),)

    def _answered(self, text: str, value: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        if text.strip():
            yield place.draft(Kind.ASSISTANT, text.strip())
        for part, requested in enumerate(_requested(value), 1):
            function = as_object(requested.get("function")) or requested
            tool, given = str(function.get("name") or ""), as_arguments(function.get("arguments"))
            yield self.call(tool, given, str(requested.get("id") or tool), place, part)

    def _text(self, content: object) -> str:
        """Return the text of a string or of parts; empty for any other value."""
        if isinstance(content, str):
            return content
        texts: list[str] = []
        for found in as_list(content):
            part = as_object(found) or {"type": "text", "text": found}
            text = part.get("text", part.get("refusal"))
            if isinstance(text, str) and str(part.get("type")) in _TEXT_PARTS:
                texts.append(text)
            else:
                self.notes.skip(f"{part.get('type')} part")
        return "\n\n".join(texts)


def _requested(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the calls that a message requests, in the current form or in the first one."""
    found = as_list(value.get("tool_calls")) or [value.get("function_call")]
    return [requested for call in found if (requested := as_object(call))]
