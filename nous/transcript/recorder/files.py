"""Write the files of a session: shared lines and arrays, summarizer inputs, summaries."""

import fcntl
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import orjson

from nous.transcript.discovery import safe_session_id
from nous.transcript.io.lines import ReadPosition
from nous.transcript.io.records import records
from nous.transcript.model import ReadNotes

MODE = 0o600
"""Readable by the owner only: conversations with agents are private."""


def append_line(path: Path, line: bytes) -> None:
    """Append *line* to the file at *path*, completely or not; create missing directories.

    *line* ends in a line feed. A file lock serializes processes and threads. If a killed writer left a torn line, that
    line is ended first, so only it is lost. Raises OSError, after removing any partial write.
    """
    with locked(path) as file:
        end = os.fstat(file).st_size
        is_torn = end > 0 and os.pread(file, 1, end - 1) != b"\n"
        rest = memoryview(b"\n" + line if is_torn else line)
        try:
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError:
            os.ftruncate(file, end)
            raise


@contextmanager
def locked(path: Path) -> Generator[int]:
    """Open the file at *path* for appending, and hold an exclusive lock on it."""
    while True:
        file = _opened(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_at(path, file):
                yield file
                return
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # close would not unlock it: a forked child may have it open too
            os.close(file)


def _opened(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        return os.open(path, flags, MODE)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, MODE)


def _is_at(path: Path, file: int) -> bool:
    """Return whether *file* is still at *path*: it may be replaced during the wait for the lock."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False


def append_element(path: Path, element: dict[str, Any]) -> None:
    """Append *element* to the JSON array in the file at *path*, by atomic replacement.

    Concurrent readers see the old file or the new one. A file that cannot be read completely is not rewritten, since
    that would lose the rest. A line is appended to it instead. Raises OSError.
    """
    path = path.resolve()  # keep a symbolic link: replace the file it points to
    with locked(path) as file:
        notes = ReadNotes()
        with os.fdopen(os.dup(file), "rb") as stream:
            stream.seek(0)
            found = [record.value for record in records(stream, notes, ReadPosition())]
        if not notes.skipped:
            _replace(path, [*found, element])
            return
    append_line(path, orjson.dumps(element, option=orjson.OPT_APPEND_NEWLINE))


def _replace(path: Path, elements: list[dict[str, Any]]) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, MODE), "wb") as stream:
            stream.write(orjson.dumps(elements, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


ARTIFACTS = "~/.qbit/artifacts"
_now = partial(datetime.now, UTC)


def save_summarizer_input(
    session: str,
    content: str,
    *,
    base: Path | str | None = None,
    clock: Callable[[], datetime] = _now,
) -> Path:
    """Save the summarizer input of *session*, and return the path.

    The file is `summarizer-input-{session}-{epoch seconds}.md` below *base* (default `~/.qbit/artifacts/compaction`). A
    second one in the same second gets a number. Raises BadInput for an id that is no plain name, and OSError.
    """
    return _save("summarizer-input", session, content, base or f"{ARTIFACTS}/compaction", clock)


def save_summary(
    session: str,
    summary: str,
    *,
    base: Path | str | None = None,
    clock: Callable[[], datetime] = _now,
) -> Path:
    """Save `summary-{session}-{epoch seconds}.md`, otherwise as `save_summarizer_input`."""
    return _save("summary", session, summary, base or f"{ARTIFACTS}/summaries", clock)


def _save(what: str, session: str, content: str, base: Path | str, clock: Callable[[], datetime]) -> Path:
    folder = Path(base).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{what}-{safe_session_id(session)}-{int(clock().timestamp())}"
    for number in count(1):
        path = folder / (f"{name}.md" if number == 1 else f"{name}-{number}.md")
        try:
            with path.open("x", encoding="utf-8", errors="replace", newline="") as stream:
                stream.write(content)
        except FileExistsError:
            continue
        return path
    raise AssertionError  # unreachable: count() never ends
