"""Extract a turn's result (or its calls' effects) and answers from the agent's messages."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from nous.summary.heuristic.record import RecordedTurn, SessionRecord
from nous.summary.heuristic.sentences import POINTS_BACK, Sentence, content_words, identifiers, plain
from nous.text.language import words
from nous.text.sentences import sentences, shortened
from nous.transcript.model import Entry
from nous.transcript.tool_actions import removed_by, written_files

RESULT_WORDS = 40
_FEWEST_WORDS = 4
_MOST_ITEMS, _MOST_FILES, _OPENING = 3, 3, 5
_ITEM_WORDS, _OFFER_WORDS = 16, 12
OFFER = re.compile(r"\W*(?:option|approach|alternative) ?[A-D1-4]\b", re.IGNORECASE)
OFFERED = "The agent offered"

_LABEL = re.compile(r"[^.:]{1,40}:\Z")


def lead(report: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences that state something, none that introduces something left out."""
    known = words()
    return [
        one
        for one, after in zip_longest(report, report[1:])
        if not (one.is_question or one.is_heading)
        and not (one.text.endswith(":") and not one.is_item and not (after and after.is_item))
        and not (known.opens("chat", one.text) and not identifiers(one.text))
        and not any(known.says(name, one.text) for name in ("about_to", "offers_more", "asks", "proposes"))
        and not known.opens("narrates", one.text)
        and (one.is_item or len(one.text.split()) >= _FEWEST_WORDS or identifiers(one.text))
    ]


def result_of(record: SessionRecord, turn: RecordedTurn, most: int = RESULT_WORDS) -> str:
    """Return the result of *turn* in at most about *most* words; empty if the record shows none."""
    offers = [one.text.rstrip(".:") for one in turn.report if OFFER.match(one.text)]
    if len(offers) > 1:
        return f"{OFFERED} {'; '.join(' '.join(text.split()[:_OFFER_WORDS]) for text in offers[:_MOST_ITEMS])}."
    statements = _last_statements(turn)
    if not statements or (turn.is_interim and not any(words().says("done", one.text) for one in statements)):
        return done_by_calls(record, turn) or (passage_from(statements, statements[0], most) if statements else "")
    whole = [one for one in statements if not POINTS_BACK.match(one.text)] or statements
    done = (one for one in whole[:_OPENING] if turn.changes and words().says("done", one.text))
    return passage_from(statements, next(done, whole[0]), most)


def _last_statements(turn: RecordedTurn) -> list[Sentence]:
    places = dict.fromkeys(one.place for one in reversed(turn.said))
    messages = [lead([one for one in turn.said if one.place == place]) for place in places]
    telling = [statements for statements in messages if statements]
    done = (
        statements
        for statements in telling
        if turn.changes and any(words().says("done", one.text) for one in statements)
    )
    return next(done, telling[0] if telling else [])


def passage_from(statements: Sequence[Sentence], first: Sentence, most: int) -> str:
    """Return *first* and its successors in about *most* words; of a list, a few items."""
    found = [first.text]
    room = most - len(first.text.split())
    is_list = first.text.endswith(":")
    for one in statements[statements.index(first) + 1 :]:
        length = min(len(one.text.split()), _ITEM_WORDS) if is_list else len(one.text.split())
        if length > room or (is_list and len(found) > _MOST_ITEMS):
            break
        if _LABEL.fullmatch(one.text):
            continue
        found.append(_cut(one.text, _ITEM_WORDS) if is_list else one.text)
        room -= length
    if is_list:
        return ended(f"{found[0]} {'; '.join(text.rstrip('.;:') for text in found[1:])}".rstrip(": "))
    return " ".join(map(ended, found))


def _cut(text: str, most: int) -> str:
    found = text.split()
    return text if len(found) <= most else f"{' '.join(found[:most])}…"


def ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text.rstrip(':;,')}."


def done_by_calls(record: SessionRecord, turn: RecordedTurn) -> str:
    """Return the effects of the calls of *turn*: files written and removed, commits, last check."""
    calls = [action for _, action in record.done if action.call.turn == turn.number]
    written = list(dict.fromkeys(_name(path) for action in calls for path in written_files(action)))
    removed = list(dict.fromkeys(_name(path) for action in calls for path in removed_by(action.command)))
    runs = {run.command: run.passed for run in record.runs if run.turn == turn.number}
    passed = [f"`{shortened(command, 60)}`" for command, is_passed in runs.items() if is_passed]
    failed = [f"`{shortened(command, 60)}`" for command, is_passed in runs.items() if not is_passed]
    parts = (
        f"changed {', '.join(written[:_MOST_FILES])}" if written else "",
        f"removed {', '.join(removed[:_MOST_FILES])}" if removed else "",
        *(f"committed “{subject}”" for subject, number in record.commits[-1:] if number == turn.number),
        f"{' and '.join(passed[-_MOST_FILES:])} passed" if passed else "",
        f"{' and '.join(failed[-_MOST_FILES:])} failed" if failed else "",
    )
    effects = "; ".join(filter(None, parts))
    return f"{effects[:1].upper()}{effects[1:]}." if effects else ""


def _name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


_ANSWER_WORDS = 36
_CODE_CHARS = 240  # characters up to which a code block is part of an answer
_QUESTION_WORDS = 16
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
    for turn in record.turns:
        question = next((short for one in turn.asked if _asks(short := _short(one.text))), "")
        answer = reply_of(turn, question, record.entries) if question else ""
        if answer and not (words().says("proposes", answer) or words().says("hedge", answer)):
            yield Answered(question, answer, turn.number, _belongs(question, answer))


def _asks(text: str) -> bool:
    """Return whether *text* asks for information: no order, doubt or question about the work."""
    known = words()
    is_marked = text.rstrip("\"')").endswith("?") and (known.opens("question", text) or _WHY.search(text))
    is_asked = is_marked or known.opens("interrogative", text) or known.says("wants_to_know", text)
    is_of_the_work = known.opens("order", text) or known.says("about_the_work", text)
    return bool(is_asked) and bool(content_words(text)) and not is_of_the_work


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
    fits = {part: len(asked & set(content_words(part.text))) + bool(_YES_OR_NO.match(part.text)) for part in parts}
    margin = 1 if words().says("asks_which", question) or words().says("wants_to_know", question) else 0
    is_elsewhere = max(fits.values()) > fits[last[0]] + margin
    start = max(parts, key=lambda part: (fits[part], part.place)) if is_elsewhere else last[0]
    return _run_on(parts, start)


class _Part(NamedTuple):
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
