"""What the user states of how things are, in a session of work."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from nous.episode import CandidateFact, Category
from nous.language import words
from nous.summary.candidate import by_user
from nous.summary.evidence import Evidence
from nous.summary.lasting import outlasts
from nous.summary.lessons import LONGEST, is_durable, name_in, standing_alone
from nous.summary.names import subject_of
from nous.summary.stale import is_changed, is_of_the_moment
from nous.summary.statements import Statement, is_wish, terms, without_wish

_SHORTEST = 12
_WHOLE = re.compile(r"[A-Z`].*[.`]\Z")
_ENDED = re.compile(r"[.`:…]\Z")
_SPEAKER = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Ww]e|[Oo]ur|us)\b")
_HERE = re.compile(r" (?:in |over )?here(?=[,.;]|\Z)")
_NO_WAY = ("complaint", "hedge", "in_passing")
_DENIED = re.compile(r"\b(?:not|no longer use|instead of|rather than|moved from|switched from) `?([\w.@/-]+)")
_TOKEN = re.compile(r"[\w@/-]+(?:\.[\w@/-]+)*")
_OURS = re.compile(r"Our (?:\w+ ){1,4}?(?=(?:is|are|runs?|lives?|uses?|listens?|expires?|has|have)\b)")
_NAMELESS = re.compile(r"Our [^A-Z\d`_./]*[.!]?\Z")
_ABOUT_IT = re.compile(r"\W*(?:\S+ ){0,4}(?:it|that|this|them)\b", re.IGNORECASE)
_HOLDS = re.compile(
    r"\b(?:is|are|has|have|runs?|lives?|listens?|stands?|uses?|needs?|requires?|must|cannot|expires?)\b"
)
"""What is said of how a thing is, and not of what is being done."""


def circumstances(evidence: Evidence) -> Iterator[CandidateFact]:
    """How things are, each with its name, in whole sentences; what is broken is mended next."""
    known, wanted = words(), _wanted(evidence)
    is_wrong = ("complaint", "wants_mending")
    told = (one for one in _of_work(evidence) if not any(known.says(name, one.text) for name in is_wrong))
    return _known((one for one in told if not wanted.changes(one)), evidence)


def corrections(evidence: Evidence) -> Iterator[CandidateFact]:
    """What of that puts right what somebody has said; who is in a hurry to do so may leave out the full stop."""
    told = (one for one in _of_work(evidence) if words().opens("corrects", one.text))
    right = (replace(one, text=_ended(standing_alone(one.text))) for one in told)
    return _known((one for one in right if not words().says("complaint", one.text)), evidence)


def customs(evidence: Evidence) -> Iterator[CandidateFact]:
    """What "we" do or use, and how what is ours is, as it was said last, where nothing was asked to be changed."""
    known, wanted, found = words(), _wanted(evidence), dict[str, CandidateFact]()
    for one in _of_work(evidence):
        found = _without_denied(found, one.text)
        whole = _HERE.sub("", standing_alone(one.text))
        text = without_wish(whole)
        is_news = any(known.says(name, whole) for name in _NO_WAY) or _is_of_a_change(whole[len(text) :])
        is_told = known.opens("our_way", text) and not is_news
        is_kept = is_told and _SHORTEST <= len(text) <= LONGEST and outlasts(text) and not _NAMELESS.match(text)
        if is_kept and not (is_changed(one, evidence) or wanted.changes(one)):
            fact = by_user(text, one.turn, Category.TECHNICAL, confidence=0.75, subject=subject_of(text, "user"))
            ours = _OURS.match(text)
            found[ours[0] if ours else text] = fact
    yield from found.values()


def _is_of_a_change(wish: str) -> bool:
    """Whether the *wish* at the end of a sentence is for another thing than the sentence tells of."""
    known = words()
    return bool(_ABOUT_IT.match(wish)) or known.says("replaces", wish) or known.says("goes_over", wish)


def _without_denied(found: dict[str, CandidateFact], text: str) -> dict[str, CandidateFact]:
    """What was *found* so far, without what *text* says is so no more, as in "pnpm, not yarn"."""
    denied = {each[1].rstrip(".,").lower() for each in _DENIED.finditer(text)} - words().sets["stopwords"]
    if not denied:
        return found
    return {key: fact for key, fact in found.items() if denied.isdisjoint(_TOKEN.findall(fact.text.lower()))}


class _Wanted(NamedTuple):
    """What the user wants done, or put right, in each turn, and the words of what is to give way to something else."""

    by_turn: Mapping[int, Sequence[Statement]]
    replaced: Sequence[tuple[int, set[str]]]

    def changes(self, one: Statement) -> bool:
        """Whether what is wanted in the turn of *one* or later changes how things are by *one*.

        In its own turn it has to be about the same, or to follow it and be about "it" or nothing by name.
        """
        named = terms(one.text)
        soon = (*self.by_turn.get(one.turn, ()), *self.by_turn.get(one.turn + 1, ()))
        if any(words().says("goes_over", each.text) for each in soon if each is not one):
            return True
        if any(turn > one.turn and named & about for turn, about in self.replaced):
            return True
        return any(_is_about(each, one, named) for each in self.by_turn.get(one.turn, ()) if each is not one)


def _wanted(evidence: Evidence) -> _Wanted:
    known = words()
    of_change = ("wants_mending", "goes_over")
    asked = [one for one in _of_work(evidence) if is_wish(one) or any(known.says(name, one.text) for name in of_change)]
    replaced = [(one.turn, terms(one.text)) for one in asked if known.says("replaces", one.text)]
    return _Wanted({turn: list(said) for turn, said in groupby(asked, key=lambda one: one.turn)}, replaced)


def _is_about(wish: Statement, one: Statement, named: AbstractSet[str]) -> bool:
    about = terms(wish.text)
    is_later = (wish.place, wish.start) > (one.place, one.start)
    return bool(named & about) or (is_later and (_ABOUT_IT.match(wish.text) is not None or not about))


def _of_work(evidence: Evidence) -> Iterator[Statement]:
    is_other = evidence.is_conversation or evidence.is_service
    said = (one for one in evidence.own_words if not is_other)
    return (one for one in said if not (one.is_question or one.is_heading))


def _known(said: Iterable[Statement], evidence: Evidence) -> Iterator[CandidateFact]:
    for one in said:
        text = standing_alone(one.text)
        is_over = is_changed(one, evidence) or is_of_the_moment(text)
        if name_in(text) and _is_whole(one) and outlasts(text) and not is_over:
            yield by_user(text, one.turn, Category.TECHNICAL, confidence=0.75, subject=subject_of(text))


def _is_whole(one: Statement) -> bool:
    """Whether *one* is a sentence on how a thing is, and asks for nothing."""
    is_wanted = is_wish(one) or any(words().opens(name, one.text) for name in ("directive", "preamble"))
    is_whole = _WHOLE.match(one.text) and _HOLDS.search(one.text) and not _SPEAKER.search(one.text)
    return bool(is_whole) and not is_wanted and is_durable(one)


def _ended(text: str) -> str:
    return text if _ENDED.search(text) else f"{text}."
