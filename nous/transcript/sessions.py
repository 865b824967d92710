"""Files that hold many sessions, one a line: lists of evaluation runs are kept like that."""

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from nous.errors import BadInput
from nous.transcript.input.lines import Cursor, Line, lines
from nous.transcript.input.tap import Tap
from nous.transcript.notes import Notes
from nous.transcript.paths import safe_session_id
from nous.transcript.read import opened
from nous.transcript.reading.fields import as_object, as_text

_ID_KEYS = ("session_id", "conversation_id", "id")


class Session(NamedTuple):
    """One session of a file, named so that the same line has the same name each time."""

    id: str
    content: bytes


def split_sessions(path: Path, notes: Notes | None = None) -> Iterator[Session]:
    """Each session of a file in which every line is one; nothing if the file at *path* is itself one session.

    The first two lines decide. A session is called by its own id, or else after the file and the line. *notes* are
    told in the end what could not be read. Raises as `read_transcript`.
    """
    notes = notes or Notes()
    stem = path.name.partition(".")[0]
    with opened(path) as stream:
        tap = Tap.on(stream)
        written = (line for line in lines(tap.buffered(), notes, Cursor()) if line.data.strip())
        first = list(islice(written, 2))
        if len(first) == 2 and all(isinstance(_object(line).get("messages"), list) for line in first):
            for line in chain(first, written):
                yield Session(_own_id(line) or f"{stem}-{line.number}", line.data.strip())
        if tap.damage:
            notes.trouble(tap.damage, 0)


def _object(line: Line) -> dict[str, Any]:
    try:
        return as_object(orjson.loads(line.data))
    except orjson.JSONDecodeError:
        return {}


def _own_id(line: Line) -> str | None:
    """The id that the session gives itself, if it can be used as one."""
    record = _object(line)
    own = next((value for key in _ID_KEYS if (value := as_text(record.get(key)))), None)
    try:
        return own and safe_session_id(own)
    except BadInput:
        return None
