"""Result of a turn: statements of the agent's last message, or else effects of its calls."""

import re
from collections.abc import Sequence
from itertools import zip_longest

from nous.summary.heuristic.record import RecordedTurn, SessionRecord
from nous.summary.heuristic.sentences import POINTS_BACK, Sentence, identifiers
from nous.text.language import words
from nous.text.sentences import shortened
from nous.transcript.tool_actions import removed_by, written_files

RESULT_WORDS = 40
_FEWEST_WORDS = 4
_MOST_ITEMS, _MOST_FILES, _OPENING = 3, 3, 5
_ITEM_WORDS, _OFFER_WORDS = 16, 12
OFFER = re.compile(r"\W*(?:option|approach|alternative) ?[A-D1-4]\b", re.IGNORECASE)
"""Opens one of several options that the agent offers."""

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
    """Return *text* with a punctuation mark at its end."""
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
