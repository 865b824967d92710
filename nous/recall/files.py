"""Files that a text names, and whether a file is one that was named."""

import re
from collections.abc import Collection, Iterable, Iterator

Path = tuple[str, ...]
"""The parts of a path, from the top, in one case."""

_NAME = r"\.?[\w@+~-][\w@+~.-]*\.[a-z]\w{0,9}"
_WHOLE_NAMES = r"\.[a-z][\w.-]*|(?:make|docker|gem|rake|just|proc|vagrant|jenkins)file|licen[cs]e|readme"
_FILE = re.compile(f"{_NAME}|{_WHOLE_NAMES}", re.IGNORECASE)
_SPACED = re.compile(rf"(?:\w+ ){{1,4}}{_NAME}", re.IGNORECASE)
_QUOTED = re.compile(r"""(?P<quote>[`"'])(?P<name>[^`"'\n]{1,400})(?P=quote)""")
_WORD = re.compile(r"[^\s\"'`()<>{},;|\x00]+")
_ADDRESS = re.compile(r"[^@/\\]*\w@[a-z][^@/\\]*", re.IGNORECASE)
"""Somebody's, in mail: `ann@example.com`, but not `icon@2x.png`."""

_PLACE = re.compile(r"(?::\d+|#L\d+)(?:[:-]L?\d+)*$")
"""Where in a file, as compilers and links say it."""

_EDGE = ":!?…*=[]@"
_LONGEST = 400
_ABBREVIATIONS = frozenset({"e.g", "i.e", "a.k.a", "n.b", "vs"})
_SEPARATOR = re.compile(r"[/\\]+")
_DRIVE = re.compile(r"[a-z]:")


def files_named(text: str) -> tuple[Path, ...]:
    """The files and folders that *text* names, each once: `ingest.rs`, `./src/ingest.rs:42`, `"my notes.txt"`.

    What only looks like one, such as `os.path` or `and/or`, is harmless: no file is found by it.
    """
    spaced = [found["name"] for found in _QUOTED.finditer(text) if _is_spaced(found["name"])]
    text = _QUOTED.sub(lambda found: " " if _is_spaced(found["name"]) else found[0], text)
    found = (parts(word) for word in (*spaced, *_words(text)))
    return tuple(path for path in dict.fromkeys(found) if path)


def parts(path: str) -> Path:
    """*path* by its parts, without a drive; what `.` and `..` stand for is gone."""
    found: list[str] = []
    for part in _SEPARATOR.split(path.strip().casefold()):
        if part == "..":
            del found[-1:]
        elif part not in {"", ".", "~"} and not _DRIVE.fullmatch(part):
            found.append(part)
    return tuple(found)


def touched(named: Collection[Path], paths: Iterable[str]) -> tuple[str, ...]:
    """Those of *paths* that were *named*: by name, by the end of their path, by a folder, or from higher up.

    Parts match whole: `ingest.rs` names `src/ingest.rs`, and neither `my_ingest.rs` nor `ingest.rs.bak`.
    """
    return tuple(path for path in paths if named and any(_is_named(parts(path), name) for name in named))


def _is_named(path: Path, name: Path) -> bool:
    runs = (path[start : start + len(name)] for start in range(len(path) - len(name) + 1))
    return name in runs or (1 < len(path) < len(name) and name[-len(path) :] == path)


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        bare = word.strip(_EDGE).rstrip(".")
        if len(bare) <= _LONGEST and "://" not in bare and bare.casefold() not in _ABBREVIATIONS:
            name = _PLACE.sub("", bare)
            if _is_path(name):
                yield name


def _is_path(word: str) -> bool:
    return _SEPARATOR.search(word) is not None or bool(_FILE.fullmatch(word) and not _ADDRESS.fullmatch(word))


def _is_spaced(name: str) -> bool:
    return " " in name and _SPACED.fullmatch(_SEPARATOR.split(name)[-1]) is not None
