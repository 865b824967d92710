"""Edit JSON with comments as text, so that nothing but the edit changes.

Settings of agents hold comments, trailing commas and an order that people chose; reading and writing them back would
lose all three.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder, dumps
from typing import Any, cast

from nous.domain.errors import BadInput

_COMMENT = r"//[^\n]*+|/\*(?>.*?\*/)"
_TOKEN = re.compile(rf'"(?:[^"\\\n]|\\.)*"|{_COMMENT}|,(?=(?>\s|{_COMMENT})*+[}}\]])', re.DOTALL)
_DECODER = JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Item:
    """Value between two offsets of a text; `start` is that of its key, if it has one."""

    key: str | int
    start: int
    value_start: int
    end: int


def strict(text: str, *, but: str = '"') -> str:
    """Blank out comments and trailing commas, but for *but*; every offset and line stays."""
    return _TOKEN.sub(lambda found: found[0] if found[0][0] in but else re.sub(r"[^\n]", " ", found[0]), text)


def parsed(text: str) -> dict[str, Any]:
    """Return the object in *text*; empty for a blank text. Raises `BadInput` with the place."""
    try:
        value = _DECODER.decode(strict(text.removeprefix("\ufeff"))) if text.strip("\ufeff \t\r\n") else {}
    except JSONDecodeError as error:
        raise BadInput(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except (RecursionError, ValueError) as error:  # an integer of thousands of digits
        raise BadInput(f"it cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise BadInput("line 1: an object was expected")
    return cast("dict[str, Any]", value)


def with_item(text: str, path: Sequence[str], value: Any, *, key: str | None = None) -> str:
    """Return *text* with *value* at the end of the list at *path*, or as *key* of an object.

    What is missing on the way is added. Raises `BadInput` where something else is in the way.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = f"{text}{{}}\n"
    plain = strict(text)
    start, depth = plain.index("{"), 0
    while depth < len(path) and (found := _member(plain, start, path[depth])):
        start, depth = found.value_start, depth + 1
        is_list = depth == len(path) and key is None
        if plain[start] != ("[" if is_list else "{"):
            line = plain.count("\n", 0, start) + 1
            raise BadInput(f"line {line}: {path[depth - 1]} should be {'a list' if is_list else 'an object'}")
    new = value
    if depth < len(path):
        new = [value] if key is None else {key: value}
        for name in reversed(path[depth + 1 :]):
            new = {name: new}
        key = path[depth]
    return _appended(text, plain, start, key, new, depth=depth)


def without_items(text: str, path: Sequence[str | int], is_ours: Callable[[Any], bool]) -> str:
    """Return *text* without the items of the list or object at *path* that *is_ours* accepts."""
    plain = strict(text)
    start = plain.find("{")
    for name in path:
        found = _member(plain, start, name) if start >= 0 and plain[start] in "{[" else None
        if found is None:
            return text
        start = found.value_start
    items = list(_items(plain, start)) if plain[start] in "{[" else []
    gone = [each for each in items if is_ours(_DECODER.raw_decode(plain, each.value_start)[0])]
    for item in reversed(gone):
        before = plain[: item.start].rstrip()
        ends = _past_space(plain, item.end)
        if before.endswith(","):
            text = text[: len(before) - 1] + text[len(before) : item.start].rstrip() + text[item.end :]
        elif plain[ends] == ",":
            text = text[: item.start] + text[ends + 1 :].lstrip()
        else:
            text = text[: item.start] + text[item.end :].lstrip(" \t")
        plain = strict(text)
    return text


def _appended(text: str, plain: str, start: int, key: str | None, value: Any, *, depth: int) -> str:
    """Add *value* to the container that starts at *start*, in the style of the file."""
    items = list(_items(plain, start))
    newline = "\r\n" if "\r\n" in text else "\n"
    indented = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    indent = indented[1] if indented else "  "
    shown = dumps(value, indent=indent, ensure_ascii=False)
    if key is not None:
        shown = f"{dumps(key, ensure_ascii=False)}: {shown}"
    margin = indent * (depth + 1)
    shown = shown.replace("\n", f"{newline}{margin}")
    end = items[-1].end if items else start + 1
    close = _end_of(plain, start) - 1
    comma = "," if items and "," not in strict(text, but='",')[end:close] else ""
    rest = text[end:close].rstrip()
    return f"{text[:end]}{comma}{rest}{newline}{margin}{shown}{newline}{indent * depth}{text[close:]}"


def _end_of(plain: str, start: int) -> int:
    return _DECODER.raw_decode(plain, start)[1]


def _member(plain: str, start: int, name: str | int) -> _Item | None:
    """Return the item called *name*: of several with one key, readers take the last."""
    return next((item for item in reversed([*_items(plain, start)]) if item.key == name), None)


def _items(plain: str, start: int) -> Iterator[_Item]:
    at, count = _past_space(plain, start + 1), 0
    while plain[at] not in "}]":
        first, key = at, count
        if plain[start] == "{":
            key, at = _DECODER.raw_decode(plain, at)
            at = _past_space(plain, _past_space(plain, at) + 1)
        end = _end_of(plain, at)
        yield _Item(key, first, at, end)
        count += 1
        at = _past_space(plain, end)
        if plain[at] == ",":
            at = _past_space(plain, at + 1)


def _past_space(plain: str, at: int) -> int:
    return len(plain) - len(plain[at:].lstrip())
