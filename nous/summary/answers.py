"""By what a service's user says they are known, where the agent has asked for it and they only give the answer."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nous.episode import CandidateFact, Category
from nous.language import words
from nous.summary.candidate import by_user
from nous.summary.evidence import Evidence
from nous.transcript.model import Kind

_WORD = re.compile(r"[\w.@+'\u2019-]*\w")
_MOST_WORDS = 9
_OF_OTHERS = re.compile(r"\b(?:not|\w+n['\u2019]t|never|instead|to|was|wife|husband|friend)\b", re.IGNORECASE)
"""Tells of what is not one's own, or not any more."""

_CAPITAL = r"[^\W\d_a-z][\w'\u2019-]+"
_NAME = re.compile(
    r"(?:[Ii]t['\u2019]s|[Ii]t is|[Tt]his is|I['\u2019]m|I am) "
    rf"((?:{_CAPITAL} ){{1,2}}{_CAPITAL})(?=[.,!]|\Z| (?:from|and)\b)"
)


class _Asked(NamedTuple):
    """What somebody may be asked for, by the list of words that ask for it, and how the answer looks."""

    words: str
    what: str
    answer: re.Pattern[str]


_ASKED = (
    _Asked("asks_email", "email address", re.compile(r"([\w.+-]+@[\w-]+(?:\.[\w-]+)+)")),
    _Asked("asks_user_id", "user ID", re.compile(r"\b([a-z]+_[a-z]+_\d+)\b")),
    _Asked("asks_name", "name", _NAME),
)


def answers(evidence: Evidence) -> Iterator[CandidateFact]:
    """The e-mail address, the user id or the name in short answers to who asks for it."""
    known = words()
    for one in evidence.own_words if evidence.is_service else ():
        is_short = len(_WORD.findall(one.text)) <= _MOST_WORDS and not _OF_OTHERS.search(one.text)
        before = [each for each in evidence.said_in.get(one.turn - 1, ()) if each.speaker is Kind.ASSISTANT]
        for asked in _ASKED if is_short and not known.says("identity", one.text) else ():
            found = asked.answer.search(one.text)
            if found and any(known.says(asked.words, each.text) for each in before):
                text = f"The user's {asked.what} is {found[1].rstrip('.')}"
                yield by_user(text, one.turn, Category.PERSON, confidence=0.9)
