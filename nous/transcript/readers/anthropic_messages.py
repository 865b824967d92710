"""Bodies of the Anthropic Messages API: `{system?, messages: [{role, content: text or blocks}]}`, or only the list."""

from collections.abc import Iterator
from typing import BinaryIO

from nous.transcript.base import Notes, Sample
from nous.transcript.blocks import Blocks, text_of
from nous.transcript.chat import look, messages, session_mark
from nous.transcript.model import Entry, Kind


class AnthropicMessages:
    """Told from Chat Completions by its blocks: calls and results are content."""

    format = "anthropic_messages"

    def sniff(self, sample: Sample) -> float:
        seen = look(sample)
        if not seen.is_chat or not seen.is_anthropic:
            return 0.0
        return 0.4 if seen.is_openai else 0.8

    def read(self, stream: BinaryIO, notes: Notes) -> Iterator[Entry]:
        blocks = Blocks(notes)
        for message in messages(stream, notes):
            content, place = message.value.get("content"), message.place
            match message.role:
                case "user":
                    yield from blocks.of_user(content, place)
                case "assistant":
                    yield from blocks.of_assistant(content, place, message=place.id)
                case "session":
                    yield place.entry(Kind.SYSTEM, session_mark(message))
                case _:
                    yield place.entry(Kind.SYSTEM, text_of(content))


READER = AnthropicMessages()
