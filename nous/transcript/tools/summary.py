"""A tool call in one line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nous.transcript.tools.graphemes import first_graphemes
from nous.transcript.tools.table import BOOKKEEPING, FIRST_LINE_ONLY, TABLE, Keys, Shape
from nous.transcript.tools.touched import paths_touched

LONGEST_VALUE = 80
"""Grapheme clusters of a value that are shown. Paths of files are shown whole."""

_UNKNOWN = Shape()


def extract_tool_summary(
    name: str | None, tool_input: Mapping[str, Any] | None = None, paths: Sequence[str] = ()
) -> str:
    """`Name(what matters of its input)`; the bare name for a tool that is not known, and "" for one of bookkeeping.

    *paths* are the files that it touches, if they are known already.
    """
    if not name or name in BOOKKEEPING:
        return ""
    shape = TABLE.get(name, _UNKNOWN)
    given = tool_input or {}
    if shape.needs and not _text(given, shape.values[shape.needs]):
        return name
    files = (paths or paths_touched(name, given)) if shape.file or shape.patch else ()
    shown = ", ".join((*files, *_values(shape, given)) if shape.values else files)
    return f"{name}({shown})" if shown else name


def _values(shape: Shape, given: Mapping[str, Any]) -> Iterator[str]:
    for label, keys in shape.values.items():
        if value := _text(given, keys):
            yield f'{label}="{_shortened(value, label)}"'


def _text(given: Mapping[str, Any], keys: Keys) -> str:
    """What stands under the first of *keys* that holds something; a command given as words is one line."""
    for key in keys:
        value = given.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return _command(value)
    return ""


def _command(words: list[Any]) -> str:
    """The command that *words* run: of `["bash", "-lc", script]`, the script."""
    told = [word for word in words if isinstance(word, str)]
    is_script = len(told) == 3 and told[1].startswith("-") and told[1].endswith("c")
    return told[2] if is_script else " ".join(told)


def _shortened(value: str, label: str) -> str:
    if label in FIRST_LINE_ONLY:
        value = value.partition("\n")[0].rstrip("\r")
    return first_graphemes(value, LONGEST_VALUE).replace('"', '\\"')
