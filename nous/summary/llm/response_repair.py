"""Coerce values of the wrong type in a model's answer.

A text is never split into its characters.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from math import isfinite
from typing import Any, cast

from nous.domain.episode import Category, Outcome
from nous.domain.errors import BadInput
from nous.summary.llm.json_recovery import object_in

Note = Callable[[str], None]
"""Callback for each repair, described in words that quote nothing."""

LIKELY = 0.8
"""The confidence of a fact that states none."""

_UNSAFE = re.compile(r"[\x00\ud800-\udfff]")
_BULLET = re.compile(r"^\s*(?:[-*\u2022\u2023\u2013]|\d{1,3}[.)])\s+")
_LINES = re.compile(r"[\r\n\u2022]+")
_SAYING = ("text", "fact", "point", "lesson", "topic", "thread", "content", "statement", "description", "value", "name")
"""Keys that may hold the text of an object where a text was asked for."""

_OUTCOMES: Mapping[Outcome, str] = {
    Outcome.RESOLVED: "resolved success successful succeeded completed complete done fixed solved finished",
    Outcome.PARTIAL: "partial partially partially|resolved partially|completed partly ongoing in|progress mixed",
    Outcome.UNRESOLVED: "unresolved not|resolved failed failure blocked unsuccessful abandoned unsolved not|done",
    Outcome.INFORMATIONAL: "informational information informative info answered",
}
_SURE: Mapping[str, float] = {
    "certain": 1.0,
    "very high": 0.95,
    "high": 0.9,
    "likely": LIKELY,
    "medium": 0.6,
    "moderate": 0.6,
    "low": 0.3,
    "very low": 0.1,
}
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?")
_SHARE = re.compile(rf"(?P<number>{_NUMBER.pattern})\s*(?P<unit>%|percent|/\s*\d{{1,3}})?\Z")
_LEAST_PERCENT = 10
_TURNS = re.compile(r"(?<![\d.])(\d{1,6})(?:\s*(?:-|\u2013|to)\s*(\d{1,6}))?(?!\d)")
_LONGEST_RANGE = 50
_LAST_TURN = 999_999
_PART_OF_DATE = re.compile(r"(?!0000)[0-9]{4}(?:-(?:0[1-9]|1[0-2]))?\Z")
_NO_DATE = frozenset({"", "null", "none", "unknown", "n/a"})


def text_of(value: object, note: Note) -> str:
    """Return *value* as a text; empty if it has none."""
    match value:
        case None:
            return ""
        case str():
            return _UNSAFE.sub("", value).strip()
        case list():
            note("a list was read as one text")
            return " ".join(filter(None, (text_of(each, note) for each in cast("list[Any]", value))))
        case dict():
            note("an object was read as a text")
            return _said_in(cast("dict[str, Any]", value), note)
        case _:
            note(f"a {type(value).__name__} was read as a text")
            return str(value)


def texts_of(value: object, note: Note) -> list[str]:
    """Return *value* as a list of texts, without blank ones."""
    texts = [text_of(each, note) for each in items_of(value, note)]
    if blank := sum(not text for text in texts):
        note(f"{blank} blank items were dropped" if blank > 1 else "a blank item was dropped")
    return [text for text in texts if text]


def items_of(value: object, note: Note) -> Sequence[object]:
    """Return *value* as a list: a text's lines, an object's values, or else the value alone."""
    match value:
        case list():
            return cast("list[object]", value)
        case None:
            return ()
        case str():
            note("a text was read as a list")
            return _lines(value)
        case dict():
            note("an object was read as a list")
            fields = cast("dict[str, object]", value)
            return [fields] if any(name in fields for name in _SAYING) else list(fields.values())
        case _:
            note(f"a {type(value).__name__} was read as a list")
            return [value]


def outcome_of(value: object, note: Note) -> Outcome | None:
    """Return the outcome that *value* means, in any spelling or by a synonym; None if unclear."""
    text = text_of(value, note)
    plain = "|".join(re.findall(r"[a-z]+", text.casefold().removeprefix("outcome.")))
    found = next((outcome for outcome, names in _OUTCOMES.items() if plain in names.split()), None)
    if found and found != text:
        note("another word was read as one of the four")
    return found


def category_of(value: object, note: Note) -> Category:
    """Return the category that *value* names, or `technical`."""
    name = text_of(value, note).casefold().strip(" .`\"'")
    for known in Category:
        if name in {known.value, f"{known.value}s"}:
            return known
    note("an unknown category became technical")
    return Category.TECHNICAL


def confidence_of(value: object, note: Note) -> float:
    """Return *value* as a number between 0 and 1; from 10 to 100 it is taken for a percentage."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    number = _number_in(text_of(value, _unheard).casefold())
    note("a confidence was read as a number between 0 and 1")
    return min(1.0, max(0.0, number)) if isfinite(number) else LIKELY


def turns_of(value: object, note: Note) -> list[int]:
    """Return the turn numbers in *value*, in order."""
    items = items_of(value, _unheard)
    if isinstance(value, list) and all(isinstance(item, int) and not isinstance(item, bool) for item in items):
        return sorted({turn for turn in cast("list[int]", value) if 0 < turn <= _LAST_TURN})
    if value is not None:
        note("turns were read as numbers")
    return sorted({turn for item in items if not isinstance(item, bool) for turn in _turns_in(item)})


def date_of(value: object, note: Note) -> str | None:
    """Return *value* if it is an ISO 8601 date, or the year or month of one."""
    text = text_of(value, _unheard)
    if text.casefold() in _NO_DATE:
        return None
    if is_date(text):
        return text
    note("a date that is not ISO 8601 was dropped")
    return None


def _said_in(fields: Mapping[str, Any], note: Note) -> str:
    named = (text_of(fields[name], note) for name in _SAYING if name in fields)
    return next(filter(None, named), "") or " ".join(filter(None, (text_of(each, note) for each in fields.values())))


def _lines(text: str) -> Sequence[object]:
    if text.lstrip().startswith("["):
        with suppress(BadInput):
            items = object_in(f'{{"items": {text}}}').get("items")
            return cast("list[object]", items) if isinstance(items, list) else [text]
    return [line for each in _LINES.split(text) if (line := _BULLET.sub("", each).strip())]


def _number_in(text: str) -> float:
    """Return the share that *text* means, or NaN."""
    if text in _SURE:
        return _SURE[text]
    found = _SHARE.match(text)
    if found is None:
        return float("nan")
    number, unit = float(found["number"]), found["unit"] or ""
    if unit.startswith("/"):
        return number / (float(unit[1:]) or float("nan"))
    is_percent = unit or _LEAST_PERCENT <= number <= 100
    return number / 100 if is_percent else number


def _turns_in(item: object) -> set[int]:
    if isinstance(item, float):
        return {int(item)} if isfinite(item) and 0 < item <= _LAST_TURN else set()
    turns: set[int] = set()
    for found in _TURNS.finditer(text_of(item, _unheard)):
        first = int(found[1])
        last = int(found[2] or first)
        turns.update(range(first, last + 1) if first <= last <= first + _LONGEST_RANGE else (first, last))
    return turns - {0}


def is_date(text: str) -> bool:
    """Return whether *text* is a date in ISO 8601, or the year or month of one."""
    if _PART_OF_DATE.match(text):
        return True
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            read(text)
        except ValueError:
            continue
        return True
    return False


def _unheard(_: str) -> None:
    """Ignore a repair that the caller notes itself, or that needs no note."""
