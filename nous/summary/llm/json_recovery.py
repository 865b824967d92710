"""Extract the largest JSON object, or the text in `<summary>` tags, from a model's answer.

Trailing commas are accepted. Other malformed or truncated JSON is a fault: no part of it is taken for the answer.
"""

import json
import re
from typing import Any, cast

from nous.domain.errors import BadInput

_MOST_READ = 1_000  # the most objects beside each other that are read
_MOST_FAULTS = 8  # the most malformed objects that are passed over: each costs a reading of all that follows
_STRING = r'"(?:[^"\\]++|\\.)*+"'
# Begins an object, or an array of objects. Other braces are skipped at the speed of `re`.
_OPENING = re.compile(rf"(?:\[\s*+)?\{{\s*+(?:{_STRING}\s*+:|\}})", re.DOTALL)
_BEGINS_LINE = re.compile(rf"^{_OPENING.pattern}", re.DOTALL | re.MULTILINE)
_REASONING = re.compile(r"\A\s*<think>.*?</think>", re.IGNORECASE | re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)


def object_in(text: str) -> dict[str, Any]:
    """Return the largest JSON object in *text*.

    An object beside a larger malformed one does not count, unless it begins a later line: a draft may be malformed, and
    an object inside of a truncated answer is not the answer. Raises `BadInput` if there is none. The message is a
    sentence that can be sent to the model; it quotes nothing.
    """
    text = _REASONING.sub("", text)
    largest: Any = None
    fault: Exception | None = None
    size = position = faults = 0
    for _ in range(_MOST_READ):
        opening = (_OPENING if fault is None else _BEGINS_LINE).search(text, position)
        if opening is None or faults == _MOST_FAULTS:
            break
        start = opening.start()
        try:
            value, position = _decoded(text, start)
        except (ValueError, RecursionError) as error:
            position, faults = start + 1, faults + 1
            if len(text) - start > size:
                largest, size, fault = None, 0, error
        else:
            if position - start > size:
                largest, size = value, position - start
    if largest is None:
        raise BadInput("The answer holds no JSON object; write one." if fault is None else _fault(fault, text))
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


def _fault(error: Exception, text: str) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return "The JSON is nested too deeply, or has a number of too many digits; write a plain object."
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return "The JSON object never closes; write the whole object, more briefly."
    place = f"character {error.pos + 1}"
    return f"The JSON is not valid at {place}; escape quotes and backslashes in strings, and check the commas."


_ANALYSIS = re.compile(r"<analysis\s*+>.*?(?:</analysis\s*+>|\Z)", re.IGNORECASE | re.DOTALL)
_SUMMARY = re.compile(r"<summary\s*+>(.*?)(?:</summary\s*+>|\Z)", re.IGNORECASE | re.DOTALL)
_END_SUMMARY = re.compile(r"</summary\s*+>", re.IGNORECASE)


def prose_in(text: str) -> str:
    """Return the marked summary of *text*, if it is prose and no JSON."""
    found = _SUMMARY.search(_ANALYSIS.sub("", text))
    said = found[1].strip() if found else ""
    return "" if _OPENING.search(said) else said


def summary_in(text: str) -> str:
    """Return *text* without its analysis: the marked summary, or all; open marks go to the end."""
    said = _ANALYSIS.sub("", text)
    found = _SUMMARY.search(said)
    return (found[1] if found else _END_SUMMARY.sub("", said)).strip()
