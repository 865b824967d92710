"""Adding to a file that others add to at the same time, and that may end in the middle of a line."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from nous.transcript.io.lines import Cursor
from nous.transcript.io.records import records
from nous.transcript.model import Notes

MODE = 0o600
"""What people tell their agents is nobody else's business."""


def append_line(path: Path, line: bytes, *, durable: bool = False) -> None:
    """Add *line*, which ends in a line feed, to the file at *path*, whole or not at all. Directories are made.

    Processes and threads take turns. A line that a killed writer left torn is ended first, so only itself is lost. With
    *durable*, it is on the disk afterwards. Raises OSError; whatever was written of the line is then taken back.
    """
    with locked(path) as file:
        end = os.fstat(file).st_size
        is_torn = end > 0 and os.pread(file, 1, end - 1) != b"\n"
        try:
            _write_all(file, b"\n" + line if is_torn else line)
        except OSError:
            os.ftruncate(file, end)
            raise
        if durable:
            os.fsync(file)


@contextmanager
def locked(path: Path) -> Generator[int]:
    """The file at *path*, open for appending, while nobody else who asks for it has it."""
    while True:
        file = _opened(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_at(path, file):
                yield file
                return
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # closing would not do: a forked child may have it open as well
            os.close(file)


def _opened(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        return os.open(path, flags, MODE)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, MODE)


def _is_at(path: Path, file: int) -> bool:
    """Whether the file is still the one at *path*: while it was waited for, it may have been replaced."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(file)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


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
