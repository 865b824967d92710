"""Parse Anthropic Messages API requests, responses and message lists into entries.

Unlike in Chat Completions, calls and results are content.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nous.transcript.model import Kind
from nous.transcript.parsing.chat import ChatReading, sniff_anthropic, text_of
from nous.transcript.parsing.fields import JsonObject
from nous.transcript.reader import Draft, FormatReader, RecordPlace


@dataclass(slots=True)
class _Conversation(ChatReading):
    def message(self, role: str, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        content = value.get("content")
        match role:
            case "user":
                return self.of_user(content, place)
            case "assistant":
                return self.of_assistant(content, place, message=place.id)
            case _:
                return self.text_or_skip(Kind.SYSTEM, text_of(content), place)


READER = FormatReader("anthropic_messages", sniff_anthropic, _Conversation)
