"""Coerce values of the wrong type in a model's answer.

A text is never split into its characters.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from typing import cast

from nous.domain.episode import Category, Outcome

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
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?")
_LEAST_PERCENT = 10
_TURN = re.compile(r"(?<![\d.])\d{1,6}(?!\d)")
_PART_OF_DATE = re.compile(r"(?!0000)[0-9]{4}(?:-(?:0[1-9]|1[0-2]))?\Z")


def text_of(value: object) -> str:
    """Return *value* as a text; empty if it has none."""
    match value:
        case None:
            return ""
        case str():
            return _UNSAFE.sub("", value).strip()
        case list():
            return " ".join(filter(None, map(text_of, cast("list[object]", value))))
        case dict():
            fields = cast("dict[str, object]", value)
            named = next(filter(None, (text_of(fields.get(name)) for name in _SAYING)), "")
            return named or text_of(list(fields.values()))
        case _:
            return str(value)


def texts_of(value: object) -> list[str]:
    """Return *value* as a list of texts, without blank ones."""
    return [text for each in items_of(value) if (text := text_of(each))]


def items_of(value: object) -> Sequence[object]:
    """Return *value* as a list: a text's lines, an object's values, or else the value alone."""
    match value:
        case list():
            return cast("list[object]", value)
        case None:
            return ()
        case str():
            return _items_in(value)
        case dict():
            fields = cast("dict[str, object]", value)
            return [fields] if any(name in fields for name in _SAYING) else list(fields.values())
        case _:
            return [value]


def _items_in(text: str) -> Sequence[object]:
    """Return the lines of *text*, or the items of the JSON list that some models write into a text."""
    if text.lstrip().startswith("["):
        with suppress(ValueError):
            return json.loads(text)
    return [line for each in _LINES.split(text) if (line := _BULLET.sub("", each).strip())]


def outcome_of(value: object) -> Outcome | None:
    """Return the outcome that *value* means, in any spelling or by a synonym; None if unclear."""
    plain = "|".join(re.findall(r"[a-z]+", text_of(value).casefold().removeprefix("outcome.")))
    return next((outcome for outcome, names in _OUTCOMES.items() if plain in names.split()), None)


def category_of(value: object) -> Category:
    """Return the category that *value* names, or `technical`."""
    name = text_of(value).casefold().strip(" .`\"'")
    return next((known for known in Category if name in {known.value, f"{known.value}s"}), Category.TECHNICAL)


def confidence_of(value: object) -> float:
    """Return *value* as a number between 0 and 1; from 10 on it is taken for a percentage."""
    found = _NUMBER.search(text_of(value))
    number = float(found[0]) if found else LIKELY
    return min(1.0, max(0.0, number / 100 if number >= _LEAST_PERCENT else number))


def turns_of(value: object) -> list[int]:
    """Return the turn numbers in *value*, in order."""
    numbers = (number for item in items_of(value) for number in _TURN.findall(text_of(item)))
    return sorted({int(number) for number in numbers} - {0})


def date_of(value: object) -> str | None:
    """Return *value* if it is an ISO 8601 date, or the year or month of one."""
    text = text_of(value)
    return text if is_date(text) else None


def is_date(text: str) -> bool:
    """Return whether *text* is a date in ISO 8601, or the year or month of one."""
    if _PART_OF_DATE.match(text):
        return True
    for read in (date.fromisoformat, datetime.fromisoformat):
        with suppress(ValueError):
            read(text)
            return True
    return False
