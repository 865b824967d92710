"""OpenCode's storage: a tree of small files, `session/`, `message/`, and `part/`, as one document.

Parts lie in a folder of their message, or, in the first layout, all in one. Names are made of ids, and ids are what a
file says: one that is no plain name leads nowhere.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from nous.errors import BadInput
from nous.transcript.input.lines import LONGEST_LINE
from nous.transcript.paths import safe_session_id
from nous.transcript.reading.fields import as_object, as_text

LEFT_OUT = "left_out"
"""Where the document says what is missing in it, counted by reason."""

TOO_MUCH = "file that would make the session too long"
UNREADABLE = "file that is no JSON object"

MOST = LONGEST_LINE - (1 << 20)
"""Bytes that are gathered: a document is read as one line."""


def gather_session(path: Path, most: int = MOST) -> bytes | None:
    """The session whose own file is at *path*, with its messages and their parts; None if that is no such file.

    Raises OSError.
    """
    root = _root(path)
    if root is None:
        return None
    tree = _Tree(most)
    info = tree.read(path)
    session = _plain(info.get("id"))
    if session is None:
        return None
    messages = [{"info": found, "parts": tree.parts(root, found)} for found in tree.files(root / "message" / session)]
    return orjson.dumps({"info": info, "messages": messages, LEFT_OUT: tree.left_out})


class _Tree:
    """Reads files until there is enough of them."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.left_out: dict[str, int] = {}
        self._flat: dict[str, list[Mapping[str, Any]]] | None = None

    def read(self, path: Path) -> Mapping[str, Any]:
        """The object in the file at *path*; an empty one, which is counted, if there is none."""
        size = path.stat().st_size
        if size > self.left:
            return self._without(TOO_MUCH)
        try:
            found = as_object(orjson.loads(path.read_bytes()))
            size = len(orjson.dumps({"messages": [{"parts": [found]}]}))
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            found = {}
        if not found:
            return self._without(UNREADABLE)
        self.left -= size
        return found

    def files(self, folder: Path) -> Iterator[Mapping[str, Any]]:
        """The objects in *folder*, in the order of their names, which is that of time."""
        if folder.is_dir():
            yield from filter(None, (self.read(path) for path in sorted(folder.glob("*.json")) if path.is_file()))

    def parts(self, root: Path, message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        own = _plain(message.get("id"))
        if own is None:
            return []
        return list(self.files(root / "part" / own)) or self._lying_flat(root).get(own, [])

    def _lying_flat(self, root: Path) -> dict[str, list[Mapping[str, Any]]]:
        if self._flat is None:
            self._flat = {}
            for part in self.files(root / "part"):
                self._flat.setdefault(as_text(part.get("messageID")), []).append(part)
        return self._flat

    def _without(self, reason: str) -> Mapping[str, Any]:
        self.left_out[reason] = self.left_out.get(reason, 0) + 1
        return {}


def _root(path: Path) -> Path | None:
    """The folder that holds `session/`, which the file at *path* lies below of, and `message/`."""
    return next(
        (folder.parent for folder in path.absolute().parents if folder.name == "session" and _has_messages(folder)),
        None,
    )


def _has_messages(sessions: Path) -> bool:
    return sessions.with_name("message").is_dir()


def _plain(own: object) -> str | None:
    """*own* if it is an id that can be the name of a file, and of nothing outside of its folder."""
    try:
        return safe_session_id(as_text(own))
    except BadInput:
        return None
