"""Heuristic summary text in the session's own words: requests, results, and how it ended."""

import re
from collections.abc import Sequence

from nous.domain.episode import Outcome
from nous.summary.heuristic.answers import answered, reply_of
from nous.summary.heuristic.lessons import found_out, worth
from nous.summary.heuristic.outcome import Judgement
from nous.summary.heuristic.record import RecordedTurn, SessionRecord
from nous.summary.heuristic.report import OFFERED, ended, result_of
from nous.summary.heuristic.sentences import is_go_ahead, names, telling_words
from nous.text.language import words

_MOST_WORDS = 140
_ASKED_WORDS = 18
_RESULT_WORDS = {1: 110, 2: 56, 3: 44, 4: 36}
"""The most words of a result, by the number of requests; for more requests, 30."""

_CAUSE_WORDS, _OPENING, _FEWEST_WORDS = 40, 40, 4

_LINK = re.compile(r"https?://\S+")
_COMMITS_TOLD, _FILES_TOLD = 3, 4
_BRIEF_SENTENCES = 12
_OPEN = frozenset({Outcome.PARTIAL, Outcome.UNRESOLVED})


def summary_of(record: SessionRecord, judgement: Judgement) -> str:
    """Return at most about 150 words on the session."""
    if not record.requests:
        return judgement.rationale
    ending = _ending(record, judgement)
    causes = (text for text in found_out(record) if len(text.split()) <= _CAUSE_WORDS and names(text))
    cause = max(causes, key=worth, default="")
    exchanges = _exchanges(record, _MOST_WORDS - len(f"{cause} {ending}".split()))
    is_new = cause and not any(cause[:_OPENING] in each for each in exchanges)
    found = " ".join(filter(None, (*exchanges, f"Found: {ended(cause)}" if is_new else "", ending)))
    return found or judgement.rationale


def _exchanges(record: SessionRecord, room: int) -> Sequence[str]:
    """Return the requests with results that fit: last, first, then those that changed most."""
    turns = record.requests
    most = _RESULT_WORDS.get(len(turns), 30)
    answers = {one.turn: one.answer for one in answered(record)} if len(turns) > 1 else {}
    ranked = [turns[-1], turns[0], *sorted(turns[1:-1], key=lambda turn: -_weight(turn))]
    chosen: dict[int, str] = {}
    for turn in ranked:
        asked = request_of(turn)
        if turn.number in chosen or any(asked[:_OPENING] in text for text in chosen.values() if asked):
            continue
        result = answers.get(turn.number) or _result(record, turn, most)
        text = _exchange(asked, result) if result or turn in (turns[0], turns[-1]) else ""
        length = len(text.split())
        if text and (length <= room or not chosen):
            chosen[turn.number] = text
            room -= length
    return [chosen[number] for number in sorted(chosen)]


def _result(record: SessionRecord, turn: RecordedTurn, most: int) -> str:
    """Return the result of a turn; if it changed nothing, the reply, with short code."""
    result = result_of(record, turn, most)
    if turn.changes or turn.is_interim or result.startswith(OFFERED):
        return result
    return max(result, reply_of(turn, "", record.entries), key=lambda text: ("`" in text, len(text)))


def _weight(turn: RecordedTurn) -> float:
    """Return the weight of a turn in the session: its changes, and the names it mentions."""
    said = [one.text for one in (*turn.asked, *turn.report[:6])]
    return 2 * min(turn.changes, 5) + len({name for text in said for name in names(text)}) + (not turn.is_interim)


def _exchange(asked: str, result: str) -> str:
    if not asked:
        return result
    if not result:
        return f"Asked: “{asked}”." if len(telling_words(asked)) >= _FEWEST_WORDS else ""
    return f"“{asked}”: {ended(result)}"


def request_of(turn: RecordedTurn, most: int = _ASKED_WORDS) -> str:
    """Return a request in the user's words from its first wish on; empty for a go-ahead."""
    said = [one for one in turn.asked or turn.brief[:_BRIEF_SENTENCES] if not is_go_ahead(one.text)]
    bare = (_LINK.sub("", one.text).strip() for one in said)
    texts = [text for text in bare if len(telling_words(text)) > 1]
    pasted = next((at for at, text in enumerate(texts, 1) if text.endswith(":")), len(texts))
    texts = texts[:pasted]
    wish = next((at for at, text in enumerate(texts) if words().opens("wish", text) or text.endswith("?")), 0)
    found = " ".join(texts[wish:]).split()
    return " ".join(found[:most]).rstrip(".:,; ") + ("…" if len(found) > most else "")


def _ending(record: SessionRecord, judgement: Judgement) -> str:
    commits = [subject for subject, _ in record.commits[-_COMMITS_TOLD:]]
    files = list(dict.fromkeys(path.rstrip("/").rsplit("/", 1)[-1] for path in record.files_left))
    more = f" and {len(files) - _FILES_TOLD} more" if len(files) > _FILES_TOLD else ""
    parts = (
        f"Committed: {'; '.join(commits)}." if commits else "",
        f"Files changed: {', '.join(files[:_FILES_TOLD])}{more}." if files else "",
        judgement.rationale if judgement.outcome in _OPEN else "",
    )
    return " ".join(filter(None, parts))
