"""A transcript as one pretty JSON array, for those who read it by eye: it is written anew with each event."""

import os
from pathlib import Path
from typing import Any

import orjson

from nous.transcript.input.lines import Cursor
from nous.transcript.input.records import records
from nous.transcript.notes import Notes
from nous.transcript.writing.append import MODE, append_line, locked


def append_element(path: Path, element: dict[str, Any], *, durable: bool = False) -> None:
    """Add *element* to the array in the file at *path*; whoever reads meanwhile sees the old or the new one.

    What cannot be read whole is not written anew, since that would lose the rest: then a line is added behind it.
    Raises OSError.
    """
    path = path.resolve()  # a link stays one: what it names is written anew
    with locked(path) as file:
        notes = Notes()
        with os.fdopen(os.dup(file), "rb") as stream:
            stream.seek(0)
            found = [record.value for record in records(stream, notes, Cursor())]
        if not notes.skipped:
            _replace(path, [*found, element], durable=durable)
            return
    append_line(path, orjson.dumps(element, option=orjson.OPT_APPEND_NEWLINE), durable=durable)


def _replace(path: Path, elements: list[dict[str, Any]], *, durable: bool) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, MODE), "wb") as stream:
            stream.write(orjson.dumps(elements, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
