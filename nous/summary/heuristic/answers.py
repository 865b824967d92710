"""Question-answer pairs: the user's questions and the answers that the session gave."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nous.summary.heuristic.record import RecordedTurn, SessionRecord
from nous.summary.heuristic.sentences import POINTS_BACK, content_words, identifiers, plain
from nous.text.language import words
from nous.text.sentences import sentences
from nous.transcript.model import Entry

_ANSWER_WORDS = 36
_CODE_CHARS = 240
"""Characters up to which a code block is part of an answer."""

_QUESTION_WORDS, _FEWEST_WORDS = 16, 3
_LEAD_UP = re.compile(
    r"(?:[.;:]|,? (?:but|and|so)| - )\s+(?=can|could|would|what|why|how|where|which|is|does)"
    r"|\s(?=(?:What|Why|How|Where|Which|When) )"
)
_WHY = re.compile(r"\bwhy\b", re.IGNORECASE)
_YES_OR_NO = re.compile(r"(?:yes|no|nope|yeah|yep|not?)\b", re.IGNORECASE)
_SKIPPED = ("#", "|", "---", ">", "<")


class Answered(NamedTuple):
    """A question, its answer and its turn; `is_clear` if the answer names the subject."""

    question: str
    answer: str
    turn: int
    is_clear: bool


def answered(record: SessionRecord) -> Iterator[Answered]:
    """Yield the questions of the user that were answered, in order."""
    for turn in record.turns:
        question = next((short for one in turn.asked if _asks(short := _short(one.text))), "")
        answer = reply_of(turn, question, record.entries) if question else ""
        if answer and not _is_vague(answer):
            yield Answered(question, answer, turn.number, _belongs(question, answer))


def _asks(text: str) -> bool:
    """Return whether *text* asks for information: no order, doubt or question about the work."""
    known = words()
    is_marked = text.rstrip("\"')").endswith("?") and (known.opens("question", text) or _WHY.search(text))
    is_asked = is_marked or known.opens("interrogative", text) or known.says("wants_to_know", text)
    is_of_the_work = known.opens("order", text) or known.says("about_the_work", text)
    return bool(is_asked) and bool(content_words(text)) and not is_of_the_work


def _is_vague(answer: str) -> bool:
    """Return whether an answer offers a choice, or guesses."""
    known = words()
    return known.says("proposes", answer) or known.says("hedge", answer)


def _belongs(question: str, answer: str) -> bool:
    """Return whether *answer* takes up the question; that to a "why" must give a reason."""
    known = words()
    if POINTS_BACK.match(answer):
        return False
    if _WHY.search(question):
        return known.says("explains", answer)
    shared = set(content_words(question)) & set(content_words(answer))
    return bool(shared) or (known.says("asks_which", question) and bool(identifiers(answer)))


def _short(question: str) -> str:
    """Return the last clause of a long question, without its lead-up."""
    found = question.split()
    clause = _LEAD_UP.split(question)[-1]
    return clause if len(found) > _QUESTION_WORDS and len(clause.split()) > 2 else question


def reply_of(turn: RecordedTurn, question: str, entries: Sequence[Entry]) -> str:
    """Return the best answer to *question*: from the sentence that shares most words with it."""
    parts = [part for place in dict.fromkeys(one.place for one in turn.said) for part in _parts(entries[place], place)]
    if not parts:
        return ""
    if _WHY.search(question):
        parts = [part for part in parts if words().says("explains", part.text)] or parts
    asked = set(content_words(question))
    last = [part for part in parts if part.place == parts[-1].place]
    fits = {part: _fit(part, asked) for part in parts}
    margin = 1 if words().says("asks_which", question) or words().says("wants_to_know", question) else 0
    is_elsewhere = max(fits.values()) > fits[last[0]] + margin
    start = max(parts, key=lambda part: (fits[part], part.place)) if is_elsewhere else last[0]
    return _run_on(parts, start)


class _Part(NamedTuple):
    """A statement of a message, or a short code block."""

    text: str
    place: int


def _parts(entry: Entry, place: int) -> list[_Part]:
    """Return the statements of a message: no announcements, offers, headings or exclamations."""
    found: list[_Part] = []
    for start, end in sentences(entry.text):
        raw = entry.text[start:end]
        if raw.startswith("```"):
            body = " ".join(raw.strip("`").split("\n", 1)[-1].split())
            if 0 < len(body) <= _CODE_CHARS:
                found.append(_Part(f"`{body}`", place))
        elif not raw.startswith(_SKIPPED) and (text := plain(raw)) and not _is_idle(text):
            found.append(_Part(text, place))
    return found


def _is_idle(text: str) -> bool:
    known = words()
    if text.endswith("?") or any(known.says(name, text) for name in ("about_to", "offers_more", "asks", "proposes")):
        return True
    says_little = known.opens("chat", text) or (len(text.split()) < 3 and not _YES_OR_NO.match(text))
    return known.opens("narrates", text) or (says_little and not identifiers(text))


def _fit(part: _Part, asked: set[str]) -> float:
    """Return how many words of the question a statement takes up; a yes or no counts as one."""
    return len(asked & set(content_words(part.text))) + bool(_YES_OR_NO.match(part.text))


def _run_on(parts: Sequence[_Part], start: _Part) -> str:
    found: list[str] = []
    room = _ANSWER_WORDS
    for part in parts[parts.index(start) :]:
        length = len(part.text.split())
        if part.place != start.place or (found and length > room):
            break
        found.append(part.text)
        room -= length
    while len(found) > 1 and found[-1].endswith(":"):
        found.pop()
    return " ".join(text if text.endswith((".", "!", ":", "`")) else f"{text}." for text in found)
