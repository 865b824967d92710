"""Reader for Chat Completions messages.

Accepts a list of messages, an object or lines of objects with `messages`, or one message per line. There are no error
flags: a result that begins with `Error` is one. Arguments are JSON in a string.
"""

from nous.transcript.model import ReadNotes
from nous.transcript.parsing.chat import ChatReading, look
from nous.transcript.reader import Reading, Sample


class OpenAIChat:
    """Reads Chat Completions, and lists of `{role, content}` from other programs."""

    format = "openai_chat"

    def sniff(self, sample: Sample) -> float:
        seen = look(sample)
        if not seen.is_chat:
            return 0.0
        return 0.9 if seen.is_openai else 0.6

    def begin(self, notes: ReadNotes) -> Reading:
        return ChatReading(notes)


READER = OpenAIChat()
