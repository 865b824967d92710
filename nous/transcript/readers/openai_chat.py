"""Reader of Chat Completions requests or `{role, content}` lists, parsed by `ChatReading`.

There are no error flags: a result that begins like an error message is an error. Arguments are JSON in a string.
"""

from nous.transcript.parsing.chat import ChatReading, sniff_openai
from nous.transcript.reader import FormatReader

READER = FormatReader("openai_chat", sniff_openai, ChatReading)
