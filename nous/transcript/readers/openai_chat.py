"""Chat Completions messages: a list of them, an object or lines of objects with `messages`, or one a line.

They carry no error flags: a result that begins with `Error` is one. Arguments are JSON in a string.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import orjson

from nous.transcript.base import Notes, Sample
from nous.transcript.blocks import Place
from nous.transcript.chat import Message, look, messages, session_mark
from nous.transcript.fields import as_list, as_object
from nous.transcript.model import Entry, Kind
from nous.transcript.results import UNKNOWN_CALL, Call, call
from nous.transcript.words import said_by_user

_ERROR = re.compile(r"(?:\w*Error|Traceback)\b", re.IGNORECASE)
_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})


class OpenAIChat:
    """Also what other programs keep as lists of `{role, content}`."""

    format = "openai_chat"

    def sniff(self, sample: Sample) -> float:
        seen = look(sample)
        if not seen.is_chat:
            return 0.0
        return 0.9 if seen.is_openai else 0.6

    def read(self, stream: BinaryIO, notes: Notes) -> Iterator[Entry]:
        chat = _Chat(notes)
        for message in messages(stream, notes):
            yield from chat.entries(message)


READER = OpenAIChat()


class _Chat:
    """What has to be remembered from one message to the next: calls until their results come."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._calls: dict[str, Call] = {}

    def entries(self, message: Message) -> Iterator[Entry]:
        match message.role:
            case "user":
                yield from self._user(message)
            case "assistant":
                yield from self._assistant(message)
            case "tool" | "function":
                yield self._result(message)
            case "session":
                yield message.place.entry(Kind.SYSTEM, session_mark(message))
            case _:
                yield message.place.entry(Kind.SYSTEM, self._text(message.value.get("content")))

    def _user(self, message: Message) -> Iterator[Entry]:
        said = said_by_user(self._text(message.value.get("content")))
        if said.kind is None:
            self._notes.skip(said.text)
        else:
            yield message.place.entry(said.kind, said.text)

    def _assistant(self, message: Message) -> Iterator[Entry]:
        text = self._text(message.value.get("content")) or str(message.value.get("refusal") or "")
        if text.strip():
            yield message.place.entry(Kind.ASSISTANT, text.strip())
        for part, requested in enumerate(_requested(message.value), 1):
            yield self._call(requested, message.place, part=part)

    def _call(self, requested: Mapping[str, Any], place: Place, *, part: int) -> Entry:
        function = as_object(requested.get("function")) or requested
        tool, tool_input = str(function.get("name") or ""), _arguments(function.get("arguments"))
        own = str(requested.get("id") or tool)
        self._calls[own] = made = call(tool, tool_input)
        return place.entry(Kind.TOOL_CALL, made.summary, part=part, tool=tool, tool_input=tool_input, call_id=own)

    def _result(self, message: Message) -> Entry:
        value = message.value
        own = str(value.get("tool_call_id") or value.get("name") or "")
        made = self._calls.get(own, UNKNOWN_CALL)
        text = self._text(value.get("content"))
        failed = _ERROR.match(text) is not None
        return message.place.entry(
            Kind.ERROR if failed else Kind.TOOL_RESULT,
            text,
            tool=str(value.get("name") or made.tool) or None,
            call_id=own or None,
            is_error=failed,
        )

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
                self._notes.skip(f"{part.get('type')} part")
        return "\n\n".join(texts)


def _requested(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The calls that a message asks for, in today's form and in the first one."""
    found = as_list(value.get("tool_calls")) or [value.get("function_call")]
    return [requested for call in found if (requested := as_object(call))]


def _arguments(value: object) -> dict[str, Any]:
    """The arguments of a call; if they are not a JSON object, what they are, under `arguments`."""
    parsed = value
    if isinstance(value, str):
        try:
            parsed = orjson.loads(value)
        except orjson.JSONDecodeError:
            parsed = value
    return as_object(parsed) or ({"arguments": parsed} if parsed else {})
