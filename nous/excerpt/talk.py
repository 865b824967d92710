"""Two people talking: where nobody is asked for work, what counts is what a sentence states."""

import re
from collections.abc import Sequence

from nous.excerpt.items import Item, Role

_FEWEST_EACH = 10
_LONGEST_MEAN = 400
_BALANCED = 4.0
_FIRST_PERSON = re.compile(r"\b(?:I|my|mine|we|our|I'\w+|I\u2019\w+)\b", re.IGNORECASE)
_NAME_OR_NUMBER = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]+|\d")
_TIME = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|last|next|ago|since|until|every|weekend|week|month|year|summer|winter|monday"
    r"|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october"
    r"|november|december)\b",
    re.IGNORECASE,
)
_LEAST = 0.3


def is_talk(items: Sequence[Item]) -> bool:
    """Whether two people talk: no tools, many short turns, and each says about as much as the other."""
    sides = [[len(item.text) for item in items if item.role is role] for role in (Role.USER, Role.ASSISTANT)]
    if sum(map(len, sides)) < len(items) or min(map(len, sides)) < _FEWEST_EACH:
        return False
    sizes = [sum(side) for side in sides]
    is_balanced = max(sizes) <= _BALANCED * min(sizes)
    return is_balanced and sum(sizes) <= _LONGEST_MEAN * len(items)


def states(sentence: str) -> float:
    """How much a sentence states, around 1: about oneself, with names, numbers and times; questions state little."""
    if "?" in sentence:
        return _LEAST
    signs = (_FIRST_PERSON, _NAME_OR_NUMBER, _TIME)
    return 0.6 + 0.5 * sum(sign.search(sentence) is not None for sign in signs)
