"""What the user states of how things are, in a session of work."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from nous.episode import CandidateFact, Category
from nous.language import words
from nous.summary.candidate import by_user
from nous.summary.evidence import Evidence
from nous.summary.lasting import outlasts
from nous.summary.lessons import LONGEST, is_durable, name_in, standing_alone
from nous.summary.names import subject_of
from nous.summary.stale import is_changed
from nous.summary.statements import Statement, is_wish, terms, without_wish

_SHORTEST = 12
_WHOLE = re.compile(r"[A-Z`].*[.`]\Z")
_ENDED = re.compile(r"[.`:…]\Z")
_SPEAKER = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Ww]e|[Oo]ur|us)\b")
_HERE = re.compile(r" (?:in |over )?here(?=[,.;]|\Z)")
_OURS = re.compile(r"Our (?:\w+ ){1,4}?(?=(?:is|are|runs?|lives?|uses?|listens?|expires?|has|have)\b)")
_NAMELESS = re.compile(r"Our [^A-Z\d`_./]*[.!]?\Z")
_ABOUT_IT = re.compile(r"\W*(?:\w+ ){0,4}(?:it|that|this|them)\b", re.IGNORECASE)
_HOLDS = re.compile(
    r"\b(?:is|are|has|have|runs?|lives?|listens?|stands?|uses?|needs?|requires?|must|cannot|expires?)\b"
)
"""What is said of how a thing is, and not of what is being done."""


def circumstances(evidence: Evidence) -> Iterator[CandidateFact]:
    """How things are, each with its name, in whole sentences; what is broken is mended next."""
    known = words()
    mended = {one.turn for one in _of_work(evidence) if known.says("wants_mending", one.text)}
    told = (one for one in _of_work(evidence) if not known.says("complaint", one.text))
    return _known((one for one in told if one.turn not in mended), evidence)


def corrections(evidence: Evidence) -> Iterator[CandidateFact]:
    """What of that puts right what somebody has said; who is in a hurry to do so may leave out the full stop."""
    told = (one for one in _of_work(evidence) if words().opens("corrects", one.text))
    return _known((replace(one, text=_ended(standing_alone(one.text))) for one in told), evidence)


def customs(evidence: Evidence) -> Iterator[CandidateFact]:
    """What "we" do or use, and how what is ours is, as it was said last, where nothing was asked to be changed."""
    known, found = words(), dict[str, CandidateFact]()
    for one in _of_work(evidence):
        text = without_wish(_HERE.sub("", standing_alone(one.text)))
        is_told = known.opens("our_way", text) and not (known.says("complaint", text) or known.says("in_passing", text))
        is_kept = is_told and _SHORTEST <= len(text) <= LONGEST and outlasts(text) and not _NAMELESS.match(text)
        if is_kept and not (is_changed(one, evidence) or _is_to_change(one, evidence)):
            fact = by_user(text, one.turn, Category.TECHNICAL, confidence=0.75, subject=subject_of(text, "user"))
            ours = _OURS.match(text)
            found[ours[0] if ours else text] = fact
    yield from found.values()


def _is_to_change(one: Statement, evidence: Evidence) -> bool:
    """Whether the user wants something done in the turn of *one* that is about the same, or about "it"."""
    wanted = (
        each
        for each in _of_work(evidence)
        if each.turn == one.turn and each is not one and (is_wish(each) or words().says("wants_mending", each.text))
    )
    named = terms(one.text)
    return any(_ABOUT_IT.match(each.text) or not named.isdisjoint(terms(each.text)) for each in wanted)


def _of_work(evidence: Evidence) -> Iterator[Statement]:
    is_other = evidence.is_conversation or evidence.is_service
    said = (one for one in evidence.own_words if not is_other)
    return (one for one in said if not (one.is_question or one.is_heading))


def _known(said: Iterable[Statement], evidence: Evidence) -> Iterator[CandidateFact]:
    for one in said:
        text = standing_alone(one.text)
        if name_in(text) and _is_whole(one) and outlasts(text) and not is_changed(one, evidence):
            yield by_user(text, one.turn, Category.TECHNICAL, confidence=0.75, subject=subject_of(text))


def _is_whole(one: Statement) -> bool:
    """Whether *one* is a sentence on how a thing is, and asks for nothing."""
    is_wanted = is_wish(one) or any(words().opens(name, one.text) for name in ("directive", "preamble"))
    is_whole = _WHOLE.match(one.text) and _HOLDS.search(one.text) and not _SPEAKER.search(one.text)
    return bool(is_whole) and not is_wanted and is_durable(one)


def _ended(text: str) -> str:
    return text if _ENDED.search(text) else f"{text}."
