"""Files that hold many sessions, one a line: lists of evaluation runs are kept like that."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from nous.errors import BadInput
from nous.transcript.base import Notes
from nous.transcript.lines import Cursor, Line, lines
from nous.transcript.paths import safe_session_id
from nous.transcript.read import opened
from nous.transcript.sniff import sample_of
from nous.transcript.tap import Tap

_ID_KEYS = ("session_id", "conversation_id", "id")


class Session(NamedTuple):
    """One session of a file, named so that the same line has the same name each time."""

    id: str
    content: bytes


def split_sessions(path: Path) -> Iterator[Session]:
    """Each session of a file in which every line is one; nothing if the file at *path* is itself one session.

    A session is called by its own id, or else after the file and the line. Raises as `read_transcript`.
    """
    with opened(path) as stream:
        tap = Tap.on(stream)
        sample = sample_of(tap)
        if not sample.is_json_lines or not all(isinstance(record.get("messages"), list) for record in sample.records):
            return
        stem = path.name.partition(".")[0]
        for line in lines(tap.buffered(), Notes(), Cursor()):
            if line.data.strip():
                yield Session(_id(line) or f"{stem}-{line.number}", line.data.strip())


def _id(line: Line) -> str | None:
    try:
        record: Any = orjson.loads(line.data)
    except orjson.JSONDecodeError:
        return None
    given = (record.get(key) for key in _ID_KEYS) if isinstance(record, dict) else ()
    own = next((value for value in given if isinstance(value, str)), None)
    try:
        return own and safe_session_id(own)
    except BadInput:
        return None
