"""What two people who talk say of themselves."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from nous.episode import CandidateFact, Category, Trust
from nous.language import words
from nous.summary.candidate import candidate
from nous.summary.evidence import Evidence
from nous.summary.statements import Statement
from nous.summary.third_person import in_third_person
from nous.transcript.model import Kind

_MOST = 20
_SHORTEST, _LONGEST = 24, 180
OTHER_PERSON = re.compile(r"\b(?:you|your|yours|yourself|u|ur)\b", re.IGNORECASE)
FIRST_PERSON = re.compile(r"(?:I|My|I['\u2019]\w+|Im)\b(?! (?:goodness|gosh|god|bad)\b)", re.IGNORECASE)
_CHATTER = re.compile(
    r"^(?:\W*\b(?:yeah|yes|yep|oh+|a?ha(?:ha)+|lol|well|no|hm+|cool|nice|wow|aw+|ok|okay|but|and|so|then|also|though|mm+|ah|ya)\b)*\W*",
    re.IGNORECASE,
)
_ENDS_OPEN = re.compile(
    r"(?:\.{2,}|…|\b(?:similar|alike|it|this|that|them|these|those|there|so|too|yeah|though|lol))\W*$", re.IGNORECASE
)
_MINE_AND_I = re.compile(r"My (?:\w+ ){1,4}I\b")
"""Something of mine, and that I do something with it: no sentence that can be told of somebody else."""

_NEAR = re.compile(r"My (\w+)\b", re.IGNORECASE)
_SOMEBODY = frozenset({"he", "she", "him"})
_OTHERS = _SOMEBODY | {"they", "them"}
_NAMES_OF_SPEAKERS = frozenset({"The", "I"})
_WORD = re.compile(r"[\w'\u2019-]+")
_BEFORE_IT_IS = re.compile(r"\b([a-z]+) it['\u2019]s\b")
"""The word before "it's" in the middle of a sentence."""

_RUN_ON = re.compile(r"(?<=[a-z]) (?=(?:My|We|They|He|She|But|So|And|Then|Also|It|Yeah|Oh|Haha\w*|Lol|No|Well)\b)")


def people(evidence: Evidence) -> list[CandidateFact]:
    """What two people talking say of themselves, the most telling of it."""
    if not evidence.is_conversation:
        return []
    told = [fact for one in evidence.said for fact in _about_the_speaker(one)]
    return sorted(told, key=lambda fact: -_telling(fact.text))[:_MOST]


def _about_the_speaker(one: Statement) -> Iterator[CandidateFact]:
    """The parts of a statement that begin with its speaker. People who chat often leave out the full stop."""
    trust = Trust.USER if one.speaker is Kind.USER else Trust.ASSISTANT
    for part in _RUN_ON.split(one.text):
        text = _CHATTER.sub("", part).strip()
        is_liking = words().says("preference", text)
        is_about = FIRST_PERSON.match(text) and (is_liking or words().says("about_me", text))
        is_clear = not (OTHER_PERSON.search(text) or "?" in text or words().says("hedge", text))
        is_clear = is_clear and not (_is_passing(text, is_liking=is_liking) or _runs_into_another(text))
        if is_about and is_clear and _SHORTEST <= len(text) <= _LONGEST:
            category = Category.PREFERENCE if is_liking else Category.PERSON
            subject = _whose(text, str(trust))
            text = in_third_person(text, f"the {trust}")
            yield candidate(text, one.turn, category, trust, subject=subject, confidence=0.75)


def _whose(text: str, speaker: str) -> str:
    """Whom *text* is about: its *speaker*, or somebody of the speaker's life."""
    near = _NEAR.match(text)
    return f"{speaker}'s {near[1].lower()}" if near and near[1].lower() in words().sets["near"] else speaker


def _is_passing(text: str, *, is_liking: bool) -> bool:
    """Whether what somebody says of themselves belongs to the talk: it points at it, or names nothing of a life."""
    sets, known = words().sets, words()
    told = _WORD.findall(text)
    is_named = any(word[0].isupper() or word[0].isdigit() for word in told[1:] if not word.startswith("I"))
    said = [word.lower() for word in told]
    others = _first(said, _SOMEBODY if is_named else _OTHERS)
    if (
        known.says("passing", text)
        or _MINE_AND_I.match(text)
        or (others < len(said) and others < _first(said, sets["near"]))
    ):
        return True
    if is_named:
        return False
    is_of_life = _first(said, sets["near"] | sets["living"] | sets["times"]) < len(said)
    return _ENDS_OPEN.search(text) is not None or not (is_liking or is_of_life)


def _runs_into_another(text: str) -> bool:
    """Whether a second sentence begins in *text*, and nothing divides it from the first.

    Nobody can tell then which words are of which.
    """
    return not words().sets["before_it_is"].issuperset(_BEFORE_IT_IS.findall(text))


def _first(said: Sequence[str], among: AbstractSet[str]) -> int:
    """Where the first word *among* some stands in what was *said*; behind its end if there is none."""
    return next((place for place, word in enumerate(said) if word in among), len(said))


def _telling(text: str) -> int:
    """How much a sentence about somebody says: its own words, and names and numbers twice."""
    told = set(_WORD.findall(text)) - _NAMES_OF_SPEAKERS
    named = sum(word[0].isupper() or word[0].isdigit() for word in told)
    return named + len({word.lower() for word in told} - words().sets["stopwords"] - words().sets["general"])
