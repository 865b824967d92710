"""Whose words a user's messages hold: their own, somebody else's, or those of a part that they play."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from nous.language import words
from nous.summary.lessons import name_in
from nous.summary.statements import Statement

_SPEAKER = re.compile(r"(?P<name>[^\W\d_]+): (?=(?:i|my|we|our)\b)", re.IGNORECASE)
"""Begins what somebody says, by their name, unless that is a label."""

_COLON = re.compile(r":(?=\s|\Z)")
_GREETING = re.compile(r"(?:hi|hello|hey|dear)(?: \w+){0,3}[,!.]?", re.IGNORECASE)
"""Begins a letter, where something stands before it."""

_STOP = re.compile(r"[.?!\u2026][\"')]?\Z")


def own_words(told: Sequence[Statement]) -> Iterator[Statement]:
    """What of *told*, a user's statements in order, they say in their own name.

    What is meant from now on is theirs, whatever it stands beside.
    """
    known, plays = words(), False
    for _, statements in groupby(told, key=lambda one: one.turn):
        said = list(statements)
        plays = _plays(said, plays=plays)
        own = 0 if plays else _before_others(said)
        for number, one in enumerate(said):
            is_own = number < own and not _is_of_somebody(one.text)
            if is_own or known.says("for_good", one.text):
                yield one


def _plays(said: Sequence[Statement], *, plays: bool) -> bool:
    """Whether the user is somebody else in a turn, who was before, or was not."""
    known = words()
    begins = any(known.says("role_play", one.text) or known.opens("casts", one.text) for one in said)
    ends = any(known.says("leaves_part", one.text) for one in said)
    return begins or (plays and not ends)


def _before_others(said: Sequence[Statement]) -> int:
    """How many statements of a turn come before somebody else speaks in it: none, if all of it is about such a text."""
    known = words()
    if any(known.opens("pretends", one.text) or known.says("of_a_text", one.text) for one in said):
        return 0
    begins = (place for number, one in enumerate(said) if (place := _hands_over(one, number)) is not None)
    return next(begins, len(said))


def _hands_over(one: Statement, number: int) -> int | None:
    """From which statement on somebody else speaks, if *one*, the statement *number*, hands over to them."""
    known = words()
    is_of_code = known.says("of_code", one.text) or name_in(one.text)
    is_work = known.says("works_on_text", one.text) and not is_of_code
    is_greeting = number > 0 and _GREETING.fullmatch(one.text)
    if is_greeting or known.says("introduces", one.text) or (is_work and _COLON.search(one.text)):
        return number
    return number + 1 if is_work and not _STOP.search(one.text) else None


def _is_of_somebody(text: str) -> bool:
    found = _SPEAKER.match(text)
    return found is not None and found["name"].lower() not in words().sets["labels"]
