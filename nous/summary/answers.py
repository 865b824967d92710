"""By what a service's user says they are known, where the agent has asked for it and they only give the answer."""

import re
from collections.abc import Iterator

from nous.episode import CandidateFact, Category
from nous.language import words
from nous.summary.candidate import by_user
from nous.summary.evidence import Evidence
from nous.summary.statements import Statement
from nous.transcript.model import Kind

_WORD = re.compile(r"[\w.@+'\u2019-]*\w")
_MOST_WORDS = 9
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_USER_ID = re.compile(r"\b[a-z]+_[a-z]+_\d+\b")
_NAME = re.compile(
    r"(?:[Ii]t['\u2019]s|[Ii]t is|[Tt]his is|I['\u2019]m|I am) ((?:[A-Z][\w'\u2019-]+ ){1,2}[A-Z][\w'\u2019-]+)"
)
_GIVEN = ((_EMAIL, "email address"), (_USER_ID, "user ID"), (_NAME, "name"))


def answers(evidence: Evidence) -> Iterator[CandidateFact]:
    """The e-mail address, the user id or the name in short answers to who asks for one of them."""
    for one in evidence.own_words if evidence.is_service else ():
        if len(_WORD.findall(one.text)) <= _MOST_WORDS and _is_asked_who(one, evidence):
            yield from _given(one)


def _is_asked_who(one: Statement, evidence: Evidence) -> bool:
    before = evidence.said_in.get(one.turn - 1, ())
    asked = any(each.speaker is Kind.ASSISTANT and words().says("asks_who", each.text) for each in before)
    return asked and not words().says("identity", one.text)


def _given(one: Statement) -> Iterator[CandidateFact]:
    for pattern, what in _GIVEN:
        if found := pattern.search(one.text):
            text = f"The user's {what} is {found[found.lastindex or 0].rstrip('.')}"
            yield by_user(text, one.turn, Category.PERSON, confidence=0.9)
