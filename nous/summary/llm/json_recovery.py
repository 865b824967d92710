"""Recover the JSON object from a model's answer, despite surrounding text.

Malformed or truncated JSON is a fault: no part of it is taken for the answer.
"""

import json
import re
from typing import Any, cast

from nous.domain.errors import BadInput

DEEPEST = 64
"""The deepest nesting of brackets; an answer has a few."""

_MOST_READ = 1_000
"""The most objects beside each other that are read."""

_STRING = r'"(?:[^"\\]++|\\.)*+"'
_OPENING = re.compile(rf"(?:\[\s*+)?\{{\s*+(?:{_STRING}\s*+:|\}})", re.DOTALL)
"""Begins an object, or an array of objects. Other braces are skipped at the speed of `re`."""

_TOO_DEEP = re.compile(rf"(?:[{{\[][^{{}}\[\]]*+){{{DEEPEST + 1}}}")
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)


def object_in(text: str) -> dict[str, Any]:
    """Return the largest JSON object in *text* before the first malformed one.

    Raises:
        BadInput: there is none, or the malformed rest is larger. The message is for the model; it quotes nothing.
    """
    if _TOO_DEEP.search(text):
        raise BadInput(f"The JSON is nested more than {DEEPEST} brackets deep; write a plain object.")
    largest: Any = None
    size = position = 0
    for _ in range(_MOST_READ):
        opening = _OPENING.search(text, position)
        if opening is None:
            break
        start = opening.start()
        try:
            value, position = _decoded(text, start)
        except json.JSONDecodeError as error:
            if len(text) - start > size:
                raise BadInput(_fault(error, text)) from None
            break
        if position - start > size:
            largest, size = value, position - start
    if largest is None:
        raise BadInput("The answer holds no JSON object; write one.")
    if not isinstance(largest, dict):
        raise BadInput("The answer is a JSON array; write one JSON object.")
    return cast("dict[str, Any]", largest)


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at *start*, and its end; commas before a bracket are ignored."""
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError:
        bare = _TRAILING_COMMA.sub(lambda found: found[1] or " ", text[start:])
        return _DECODER.raw_decode(text[:start] + bare, start)


def _fault(error: json.JSONDecodeError, text: str) -> str:
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return "The JSON object never closes; write the whole object, more briefly."
    place = f"character {error.pos + 1}"
    return f"The JSON is not valid at {place}; escape quotes and backslashes in strings, and check the commas."


_ANALYSIS = re.compile(r"<analysis\s*+>.*?(?:</analysis\s*+>|\Z)", re.IGNORECASE | re.DOTALL)
_SUMMARY = re.compile(r"<summary\s*+>(.*?)(?:</summary\s*+>|\Z)", re.IGNORECASE | re.DOTALL)
_END_SUMMARY = re.compile(r"</summary\s*+>", re.IGNORECASE)


def summary_in(text: str) -> str:
    """Return *text* without its analysis: the marked summary, or all; open marks go to the end."""
    said = _ANALYSIS.sub("", text)
    found = _SUMMARY.search(said)
    return (found[1] if found else _END_SUMMARY.sub("", said)).strip()
