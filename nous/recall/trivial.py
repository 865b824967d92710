"""Whether a prompt asks for anything that could be remembered."""

import re

import regex

from nous.language import words
from nous.recall.files import files_named

LEAST_WORDS = 3
"""Fewer say too little to look for, unless one of them is a name."""

_COMMAND = re.compile(r"\s*[/!][\w:-]+(?=\s|$)")
_WORD = regex.compile(r"[\p{Han}]|[\w'\u2019]{1,16}")
_NAME = re.compile(r"[a-z][A-Z]|[^\W_]_+[^\W_]|[A-Z]-\d|\d{3}|[^\W\d_]\d\d")
"""What stands in that which only one thing is called: `LastPrompt`, `last_prompt`, `ENT-250`, `8080`."""


def is_trivial(prompt: str) -> bool:
    """Whether *prompt* is a command, a word or two, or mere courtesy: nothing to search for.

    A sign of a script without spaces counts as a word, and the name of a file or of a thing is enough.
    """
    rest = _COMMAND.sub("", prompt, count=1)
    said = _WORD.findall(rest)
    if files_named(rest) or _NAME.search(rest):
        return False
    lists = words().sets
    idle = lists["stopwords"] | lists["courtesy"]
    return len(said) < LEAST_WORDS or all(word.casefold() in idle for word in said)
