"""Reader for Chat Completions messages.

Accepts a list of messages, an object or lines of objects with `messages`, or one message per line. There are no error
flags: a result that begins with `Error` is one. Arguments are JSON in a string.
"""

from nous.transcript.parsing.chat import ChatReading, look
from nous.transcript.reader import FormatReader, Sample


def _sniff(sample: Sample) -> float:
    seen = look(sample)
    if not seen.is_chat:
        return 0.0
    return 0.9 if seen.is_openai else 0.6


READER = FormatReader("openai_chat", _sniff, ChatReading)
