"""Which files a tool call touched."""

import re
from collections.abc import Mapping
from typing import Any, cast

_ALWAYS_FILES = ("file_path", "notebook_path", "absolute_path", "filePath", "target_file")
_FILE_UNLESS_SEARCHED = "path"
_LISTS_OF_FILES = ("paths", "file_paths")
_PATCHES = ("patch", "input", "patchText")
_SEARCHES = re.compile(r"grep|glob|find|search|list|^ls$|tree", re.IGNORECASE)
_IN_PATCH = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (\S[^\n]*?)\s*$", re.MULTILINE)


def paths_touched(name: str, tool_input: Mapping[str, Any]) -> tuple[str, ...]:
    """The files that a call reads or writes, as its input names them, each once; none for a search."""
    found = [tool_input.get(key) for key in _ALWAYS_FILES]
    if _FILE_UNLESS_SEARCHED in tool_input and not _SEARCHES.search(name):
        found.append(tool_input[_FILE_UNLESS_SEARCHED])
    for key in _LISTS_OF_FILES:
        if isinstance(tool_input.get(key), list):
            found += cast("list[Any]", tool_input[key])
    if "patch" in name:
        found += (path for key in _PATCHES for path in files_of_patch(tool_input.get(key)))
    return tuple(dict.fromkeys(path for path in found if isinstance(path, str) and path))


def files_of_patch(patch: object) -> tuple[str, ...]:
    """The files that a patch in the form of `apply_patch` names, each once."""
    if not isinstance(patch, str):
        return ()
    return tuple(dict.fromkeys(_IN_PATCH.findall(patch)))
