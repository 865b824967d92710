"""Summarize a tool call as `Name(inputs)`; list the files in its path and patch inputs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from nous.text.language import tables
from nous.text.sanitize import first_graphemes

Keys = tuple[str, ...]
"""Alternative keys of one value across agents and their versions; the first one present counts."""


class Shape(NamedTuple):
    """Inputs of a tool to show: its file in full, then labelled values, cut and quoted.

    The files of the field `patch` are shown. Without the value labelled `needs`, only the tool's name is.
    """

    file: Keys = ()
    patch: Keys = ()
    values: Mapping[str, Keys] = {}
    needs: str | None = None


_TOOLS = tables("nous.transcript", "tools")
BOOKKEEPING = frozenset(_TOOLS["bookkeeping"].split())
"""Tools that manage the agent's own tasks, or that ask the user, whose answer becomes a decision entry."""

FIRST_LINE_ONLY = frozenset({"cmd", "prompt"})

PATHS: Keys = tuple(_TOOLS["paths"].split())
_FILE = Shape(file=PATHS)


def _shape(tool: Mapping[str, Any]) -> Shape:
    file, patch = (tuple(tool.get(name, "").replace("$paths", _TOOLS["paths"]).split()) for name in ("file", "patch"))
    values = {label: tuple(keys.split()) for label, keys in tool.get("values", {}).items()}
    return Shape(file, patch, values, tool.get("needs"))


TABLE = {name: shape for tool in _TOOLS["tool"] for shape in [_shape(tool)] for name in tool["names"].split()}
"""Shape of each tool by name. Names are case-sensitive; agents that share a name mean the same tool."""

_NO_SHAPE = Shape()
_LISTS = ("paths", "file_paths", "absolute_paths")
_SEARCHES = re.compile(r"grep|glob|find|search|list|^ls$|tree", re.IGNORECASE)
_IN_PATCH = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (\S[^\n]*)$", re.MULTILINE)


def paths_touched(name: str, tool_input: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files that a call reads or writes by its input, each once; none for a search."""
    shape = TABLE.get(name)
    if shape is None:
        shape = _NO_SHAPE if _SEARCHES.search(name) else _FILE
    elif not shape.file and not shape.patch:
        return ()
    found = [path for key in shape.file if isinstance(path := tool_input.get(key), str) and path][:1]
    if shape.patch:
        found += (path for key in shape.patch for path in files_of_patch(tool_input.get(key)))
    if not found:
        lists = (value for key in _LISTS if isinstance(value := tool_input.get(key), list))
        found += (path for listed in lists for path in cast("list[Any]", listed) if isinstance(path, str) and path)
    return tuple(dict.fromkeys(found)) if len(found) > 1 else tuple(found)


def files_of_patch(patch: object) -> tuple[str, ...]:
    """Return the files that an `apply_patch` patch names, each once."""
    if not isinstance(patch, str):
        return ()
    return tuple(dict.fromkeys(path.rstrip() for path in _IN_PATCH.findall(patch)))


LONGEST_VALUE = 80  # maximum grapheme clusters shown of a value. File paths are shown in full


def extract_tool_summary(
    name: str | None, tool_input: Mapping[str, Any] | None = None, paths: Sequence[str] = ()
) -> str:
    """Return `Name(main inputs)` for a tool call; *paths* are its files, if already known.

    An unknown tool gives its bare name, and a bookkeeping tool an empty string.
    """
    if not name or name in BOOKKEEPING:
        return ""
    shape = TABLE.get(name, _NO_SHAPE)
    given = tool_input or {}
    if shape.needs and not text_under(given, shape.values[shape.needs]):
        return name
    files = (paths or paths_touched(name, given)) if shape.file or shape.patch else ()
    shown = ", ".join((*files, *_values(shape, given)) if shape.values else files)
    return f"{name}({shown})" if shown else name


def _values(shape: Shape, given: Mapping[str, Any]) -> Iterator[str]:
    for label, keys in shape.values.items():
        if value := text_under(given, keys):
            shown = value.partition("\n")[0].rstrip("\r") if label in FIRST_LINE_ONLY else value
            quoted = first_graphemes(shown, LONGEST_VALUE).replace('"', '\\"')
            yield f'{label}="{quoted}"'


def text_under(given: Mapping[str, Any], keys: Keys) -> str:
    """Return the first non-empty value among *keys*; a command given as words is joined."""
    for key in keys:
        value = given.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return _command(value)
    return ""


def _command(words: list[Any]) -> str:
    """Return the command that *words* run: of `["bash", "-lc", script]`, the script."""
    strings = [word for word in words if isinstance(word, str)]
    is_script = len(strings) == 3 and strings[1].startswith("-") and strings[1].endswith("c")
    return strings[2] if is_script else " ".join(strings)
