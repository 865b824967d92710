"""Whether a prompt asks for anything that could be remembered."""

import re
from collections.abc import Collection

import regex

from nous.language import words
from nous.recall.files import files_named

_COMMAND = re.compile(r"\s*[/!][\w:-]+(?=\s|$)")
_WORD = regex.compile(r"\p{Han}+|(?:(?!\p{Han})\w)+(?:['\u2019](?:(?!\p{Han})\w)+)*(?:\.\d+)*")
_HAN = regex.compile(r"\p{Han}")
_SIGN = re.compile(r"\d{1,2}|_+")
"""What answers a list of choices, and names nothing."""

_LONGEST = 8
"""Signs of a word in a script without spaces."""

_FEW = 2
"""So many words of an order name nothing yet: `fix bug`, as opposed to `fix the bug`, which was told of."""


def is_trivial(prompt: str) -> bool:
    """Whether *prompt* is a command, mere courtesy, or an order without an object: nothing to search for.

    One word that says what is meant is enough, in any language, and so is the name of a file.
    """
    rest = _COMMAND.sub("", prompt, count=1)
    if files_named(rest):
        return False
    lists = words().sets
    said = [word.casefold().replace("\u2019", "'") for word in _WORD.findall(rest)]
    idle = lists["stopwords"] | lists["courtesy"] | (lists["orders"] if len(said) <= _FEW else frozenset())
    return all(word in idle or _SIGN.fullmatch(word) or (_HAN.match(word) and _is_made_of(idle, word)) for word in said)


def _is_made_of(idle: Collection[str], word: str) -> bool:
    """Whether *word*, of a script without spaces, is *idle* words in a row."""
    ends = {0}
    for end in range(1, len(word) + 1):
        if any(start in ends and word[start:end] in idle for start in range(max(end - _LONGEST, 0), end)):
            ends.add(end)
    return len(word) in ends
