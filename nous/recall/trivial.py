"""Whether a prompt asks for anything that could be remembered."""

import re

import regex

from nous.language import words
from nous.recall.files import files_named

_COMMAND = re.compile(r"\s*[/!][\w:-]+(?=\s|$)")
_WORD = regex.compile(r"\p{Han}+|(?:(?!\p{Han})[\w'\u2019])+(?:\.\d+)*")
_SIGN = re.compile(r"\d{1,2}|_+")
"""What answers a list of choices, and names nothing."""

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
    return all(word in idle or _SIGN.fullmatch(word) for word in said)
