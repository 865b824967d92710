"""Which files a tool call touched."""

import re
from collections.abc import Mapping
from typing import Any, cast

from nous.transcript.tools.table import PATHS, TABLE, Shape

_ANY_FILE = Shape(file=PATHS)
_NO_SHAPE = Shape()
_LISTS = ("paths", "file_paths", "absolute_paths")
_SEARCHES = re.compile(r"grep|glob|find|search|list|^ls$|tree", re.IGNORECASE)
_IN_PATCH = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (\S[^\n]*)$", re.MULTILINE)


def paths_touched(name: str, tool_input: Mapping[str, Any]) -> tuple[str, ...]:
    """The files that a call reads or writes, as its input names them, each once; none for a search."""
    shape = TABLE.get(name)
    if shape is None:
        shape = _NO_SHAPE if _SEARCHES.search(name) else _ANY_FILE
    elif not shape.file and not shape.patch:
        return ()
    found = [path for key in shape.file if isinstance(path := tool_input.get(key), str) and path][:1]
    if shape.patch:
        found += (path for key in shape.patch for path in files_of_patch(tool_input.get(key)))
    if not found:
        found += (path for key in _LISTS for path in _listed(tool_input.get(key)) if isinstance(path, str) and path)
    return tuple(dict.fromkeys(found)) if len(found) > 1 else tuple(found)


def _listed(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def files_of_patch(patch: object) -> tuple[str, ...]:
    """The files that a patch in the form of `apply_patch` names, each once."""
    if not isinstance(patch, str):
        return ()
    return tuple(dict.fromkeys(path.rstrip() for path in _IN_PATCH.findall(patch)))
