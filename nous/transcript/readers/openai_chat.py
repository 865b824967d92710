"""Reader for Chat Completions messages, and lists of `{role, content}` from other programs.

There are no error flags: a result that begins with `Error` is one. Arguments are JSON in a string.
"""

from nous.transcript.parsing.chat import ChatReading, sniff_openai
from nous.transcript.reader import FormatReader

READER = FormatReader("openai_chat", sniff_openai, ChatReading)
