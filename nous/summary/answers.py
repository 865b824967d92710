"""By what a service's user says they are known, where the agent has asked for it and they only give the answer."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from nous.episode import CandidateFact, Category
from nous.language import words
from nous.summary.candidate import by_user
from nous.summary.evidence import Evidence
from nous.summary.looks import addresses_in, full_names_in, phone_numbers_in, user_ids_in
from nous.summary.statements import Statement, is_courtesy
from nous.transcript.model import Kind

_WORD = re.compile(r"\w+(?:[.@+'\u2019-]+\w+)*")
_MOST_WORDS = 9
_LONGEST = 400
_FEW = 8
"""How many words of what is wanted say what it is."""

_OWNED = re.compile(r"['\u2019]s\Z")
_JOINT = re.compile(r"[,;/&]|\b(?:and|or|plus|as well as|along with|together with)\b", re.IGNORECASE)
_YOUR = re.compile(r"\b(?:your|who)\b", re.IGNORECASE)
"""Asks for what is the user's own, or who they are."""

_PLEADS = re.compile(r"\bplease\W{0,3}\Z", re.IGNORECASE)

_NUMBERLESS = ("asks_name", "asks_email", "asks_user_id", "asks_phone")


class _Asked(NamedTuple):
    """What somebody may be asked for, by the list of words that ask for it, and what of an answer looks like it.

    `beside` are the lists of what else may be asked at once, where an answer to anything but those could look the same;
    if there are none, only the same thing of somebody else has answers that do.
    """

    words: str
    what: str
    found_in: Callable[[str], Sequence[str]]
    beside: Sequence[str] = ()


_ASKED = (
    _Asked("asks_email", "email address", addresses_in),
    _Asked("asks_user_id", "user ID", user_ids_in),
    _Asked("asks_phone", "phone number", phone_numbers_in, _NUMBERLESS),
    _Asked("asks_name", "name", full_names_in, (*_NUMBERLESS, "asks_number")),
)


def answers(evidence: Evidence) -> Iterator[CandidateFact]:
    """The e-mail address, the user id, the phone number or the name in short answers to who asks for it.

    Where an answer has two of a kind, or could be one to something else that was asked, nobody knows which it is.
    """
    for one in evidence.own_words if evidence.is_service else ():
        before = evidence.said_in.get(one.turn - 1, ())
        for asked in _ASKED if _is_short(one.text) and not words().says("identity", one.text) else ():
            found = asked.found_in(one.text)
            is_clear = len(found) == 1 and _is_own(one.text.replace(found[0], " "))
            if is_clear and _asks_for(asked, before):
                yield by_user(f"The user's {asked.what} is {found[0]}", one.turn, Category.PERSON, confidence=0.9)


def _is_short(text: str) -> bool:
    return len(text) <= _LONGEST and len(_WORD.findall(text)) <= _MOST_WORDS


def _is_own(rest: str) -> bool:
    """Whether the *rest* of an answer leaves what it gives to the speaker, and tells of nobody else."""
    told = {_OWNED.sub("", word) for word in _WORD.findall(rest.lower())}
    return not words().says("of_others", rest) and told.isdisjoint(words().sets["near"])


def _asks_for(asked: _Asked, said: Iterable[Statement]) -> bool:
    """Whether the agent wants to know what is *asked*, and nothing that could be mistaken for it, in what it *said*."""
    wanted = [(one, _things_in(one)) for one in said if one.speaker is Kind.ASSISTANT]
    own = (thing for one, things in wanted if any(map(_YOUR.search, (one.text, *one.under))) for thing in things)
    is_asked = any(words().opens(asked.words, thing) for thing in own)
    return is_asked and not any(_is_mistaken(thing, asked) for _, things in wanted for thing in things)


def _is_mistaken(thing: str, asked: _Asked) -> bool:
    """Whether an answer that looks like what is *asked* could be that to a *thing* which is wanted beside it."""
    known = words()
    if known.opens(asked.words, thing):
        return False
    if asked.beside:
        is_apart = any(known.opens(name, thing) for name in (*asked.beside, "asks_nothing"))
        return not (is_apart or is_courtesy(thing.rstrip("?")))
    told = thing.split()[:_FEW]
    return any(known.opens(asked.words, " ".join(told[place:])) for place in range(1, len(told)))


def _things_in(one: Statement) -> Sequence[str]:
    """What stands in *one* after the words that want to know something.

    Without such words that is all of it, if it is a question, ends with "please" or is listed below such words.
    """
    known = words()
    parts = [part.strip() for part in _JOINT.split(one.text)]
    first = next((place for place, part in enumerate(parts) if known.says("wants_to_know", part)), len(parts))
    if first == len(parts):
        is_listed = any(known.says("wants_to_know", lead) for lead in one.under)
        return parts if is_listed or one.is_question or _PLEADS.search(one.text) else ()
    before = [part for part in parts[:first] if known.opens("question", part) or known.opens("before_a_thing", part)]
    return [known.without("before_a_thing", _wanted(part)) for part in (*before, *parts[first:])]


def _wanted(part: str) -> str:
    """*part* from where it has said that something is wanted."""
    ends = [found.end() for found in words().contains["wants_to_know"].finditer(part)]
    return part[ends[-1] :] if ends else part
