"""How that looks by which people are known to a service. Each function finds all different ones in a text, in order.

What is too long to be one is none, so a long text takes no more time for each of its characters than a short one.
"""

import re
from collections.abc import Sequence

from nous.language import words

_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}(?![\w@-])")
_USER_ID = re.compile(r"(?<![\w.+@-])[a-z]{1,40}_[a-z]{1,40}_\d{1,12}(?![\w@+]|[.-]\w)")
_PHONE = re.compile(r"(?<![\w+().@#$-])(?<!\d )(?!\d{4}-\d\d-\d\d\b)\+?\(?\d[\d ().-]{5,18}\d(?![\w@]|[ ().-]{1,2}\d)")
_FEWEST_DIGITS, _MOST_DIGITS = 7, 15

_CAPITAL = r"[^\W\d_a-z][\w'\u2019-]{1,40}"
_NAME = re.compile(
    r"(?<![\w'\u2019-])(?:[Ii]t['\u2019]s|[Ii]t is|[Tt]his is|I['\u2019]m|I am) "
    rf"((?:{_CAPITAL} ){{1,2}}{_CAPITAL})(?=[.,;!]|\Z| (?:from|and)\b| ?[(\u2013\u2014]| -)"
)


def addresses_in(text: str) -> Sequence[str]:
    """Addresses of e-mail."""
    return _different([found.lstrip(".+-") for found in _ADDRESS.findall(text)])


def user_ids_in(text: str) -> Sequence[str]:
    """User ids of the kind that services make of a name and a number; part of an e-mail address is none."""
    return _different(_USER_ID.findall(text))


def phone_numbers_in(text: str) -> Sequence[str]:
    found: list[str] = _PHONE.findall(text)
    return _different([each for each in found if _FEWEST_DIGITS <= sum(map(str.isdigit, each)) <= _MOST_DIGITS])


def full_names_in(text: str) -> Sequence[str]:
    """Two or three words written large, by which somebody says who they are; a mood or a day is none."""
    found: list[str] = _NAME.findall(text)
    return _different([each for each in found if words().sets["no_names"].isdisjoint(each.lower().split())])


def _different(found: Sequence[str]) -> Sequence[str]:
    return list(dict.fromkeys(found))
