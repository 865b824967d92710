"""Chat Completions messages: a list of them, an object or lines of objects with `messages`, or one a line.

They carry no error flags: a result that begins with `Error` is one. Arguments are JSON in a string.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nous.transcript.model import Kind, Notes
from nous.transcript.parsing.chat import ChatReading, look
from nous.transcript.parsing.plain_chat import tells_of_failure
from nous.transcript.parsing.values import as_arguments, as_list, as_object
from nous.transcript.reader import Draft, Place, Reading, Sample

_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})


class OpenAIChat:
    """Also what other programs keep as lists of `{role, content}`."""

    format = "openai_chat"

    def sniff(self, sample: Sample) -> float:
        seen = look(sample)
        if not seen.is_chat:
            return 0.0
        return 0.9 if seen.is_openai else 0.6

    def begin(self, notes: Notes) -> Reading:
        return _Conversation(notes)


READER = OpenAIChat()


@dataclass(slots=True)
class _Conversation(ChatReading):
    """The conversation that a request continues."""

    def message(self, role: str, value: Mapping[str, Any], place: Place) -> Iterable[Draft]:
        content = self._text(value.get("content"))
        match role:
            case "user":
                return self.said([content], place)
            case "assistant":
                return self._answered(content or str(value.get("refusal") or ""), value, place)
            case "tool" | "function":
                own = str(value.get("tool_call_id") or value.get("name") or "")
                failed = tells_of_failure(content)
                return (self.result(content, own, place, is_error=failed, tool=str(value.get("name") or "")),)
            case _:
                return (place.draft(Kind.SYSTEM, content),)

    def _answered(self, text: str, value: Mapping[str, Any], place: Place) -> Iterator[Draft]:
        if text.strip():
            yield place.draft(Kind.ASSISTANT, text.strip())
        for part, requested in enumerate(_requested(value), 1):
            function = as_object(requested.get("function")) or requested
            tool, given = str(function.get("name") or ""), as_arguments(function.get("arguments"))
            yield self.call(tool, given, str(requested.get("id") or tool), place, part)

    def _text(self, content: object) -> str:
        """The text of a string or of parts; of anything else there is none."""
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
    """The calls that a message asks for, in today's form and in the first one."""
    found = as_list(value.get("tool_calls")) or [value.get("function_call")]
    return [requested for call in found if (requested := as_object(call))]
