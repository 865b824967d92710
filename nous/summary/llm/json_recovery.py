"""Recover the JSON object from a model's answer, despite surrounding text.

The text is read bracket by bracket. Text outside of every bracket is prose or a code fence. Malformed or truncated JSON
is still read to its end, so that no part of it is taken for the answer.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from nous.domain.errors import BadInput

DEEPEST = 64
"""The deepest nesting of brackets; an answer has a few."""

_MOST_READ = 1_000
"""The most objects beside each other that are read."""

_STRING = r'"(?:[^"\\]++|\\.)*+"'
# Braces that begin no object are skipped at the speed of `re`. A match ends with the next bare quotation mark and a
# colon, so that no part of a text is scanned more than a few times.
_OPENING = re.compile(rf"(?:\[\s*+)?\{{\s*+{_STRING}\s*+:", re.DOTALL)
_EMPTY = re.compile(r"\{\s*\}")
_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|(?P<open>[{\[])|(?P<close>[}\]])', re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
_FENCE = re.compile(r"(?:[\s\ufeff]|```+\w*)*+")


@dataclass(frozen=True, slots=True)
class _Found:
    """Text that begins like an object or an array of objects: its value, or its *fault*."""

    size: int
    value: Any = None
    fault: str = ""
    is_closed: bool = True


def object_in(text: str) -> dict[str, Any]:
    """Return the largest JSON object in *text* that can be parsed completely.

    Raises:
        BadInput: there is none, or a larger one never closes. The message is a sentence that can be sent to the model;
            it quotes nothing.
    """
    found = list(islice(_found_in(text), _MOST_READ))
    whole = max((one for one in found if not one.fault), key=lambda one: one.size, default=None)
    faulty = max((one for one in found if one.fault), key=lambda one: (not one.is_closed, one.size), default=None)
    if faulty and (whole is None or (not faulty.is_closed and faulty.size > whole.size)):
        raise BadInput(faulty.fault)
    if whole is None:
        if _EMPTY.search(text):
            return {}
        raise BadInput(_nothing_in(text))
    if not isinstance(whole.value, dict):
        raise BadInput("The answer is a JSON array; write one JSON object.")
    return cast("dict[str, Any]", whole.value)


def _found_in(text: str) -> Iterator[_Found]:
    position = 0
    while opening := _OPENING.search(text, position):
        start = opening.start()
        end = _end_of(text, start)
        if end is None:
            fault = "The JSON object never closes; write the whole object, more briefly."
            yield _Found(len(text) - start, fault=fault, is_closed=False)
            return
        yield _parsed(text, start, end)
        position = end


def _end_of(text: str, start: int) -> int | None:
    """Return the end of the bracket that opens at *start*; None if it never closes."""
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += (bracket["open"] is not None) - (bracket["close"] is not None)
        if depth > DEEPEST:
            raise BadInput(f"The JSON is nested more than {DEEPEST} brackets deep; write a plain object.")
        if not depth:
            return bracket.end()
    return None


def _parsed(text: str, start: int, end: int) -> _Found:
    bare = _TRAILING_COMMA.sub(lambda found: found[1] or " ", text[start:end])
    try:
        return _Found(end - start, value=json.loads(bare, strict=False))
    except ValueError as error:
        at = start + getattr(error, "pos", 0) + 1
        fault = (
            f"The JSON is not valid at character {at}; escape quotes and backslashes in strings, and check the commas."
        )
        return _Found(end - start, fault=fault)


def _nothing_in(text: str) -> str:
    bare = text[cast("re.Match[str]", _FENCE.match(text)).end() :]
    if not bare:
        return "The answer is empty; write one JSON object."
    if bare.startswith("["):
        return "The answer is a JSON array; write one JSON object."
    return "The answer holds no JSON object; write one."


_BEGIN_ANALYSIS = re.compile(r"<analysis\s*+>", re.IGNORECASE)
_END_ANALYSIS = re.compile(r"</analysis\s*+>", re.IGNORECASE)
_BEGIN_SUMMARY = re.compile(r"<summary\s*+>", re.IGNORECASE)
_END_SUMMARY = re.compile(r"</summary\s*+>", re.IGNORECASE)


def summary_in(text: str) -> str:
    """Return *text* without its analysis, trimmed: the marked summary, or all if none is marked.

    Truncated tags are tolerated: an analysis reaches to a whole summary behind it or else to the end, a summary to the
    end.
    """
    said = _without_analyses(text)
    begin = _BEGIN_SUMMARY.search(said)
    if begin is None:
        return _END_SUMMARY.sub("", said).strip()
    end = _END_SUMMARY.search(said, begin.end())
    return said[begin.end() : end.start() if end else len(said)].strip()


def _without_analyses(text: str) -> str:
    kept: list[str] = []
    position = 0
    while begin := _BEGIN_ANALYSIS.search(text, position):
        kept.append(text[position : begin.start()])
        end = _END_ANALYSIS.search(text, begin.end())
        if end is None:
            return "".join(kept) + _summary_behind(text, begin.end())
        position = end.end()
    return "".join([*kept, text[position:]])


def _summary_behind(text: str, position: int) -> str:
    """Return *text* from its first whole summary on: an analysis may mention the tag."""
    begin = _BEGIN_SUMMARY.search(text, position)
    return text[begin.start() :] if begin and _END_SUMMARY.search(text, begin.end()) else ""
