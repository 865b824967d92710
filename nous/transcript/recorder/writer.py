"""Append session events to a qbit transcript; save summarizer input and summary files."""

import fcntl
import json
import logging
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from nous.domain.errors import BadInput
from nous.transcript.discovery import (
    Base,
    safe_session_id,
    session_and_base,
    sub_agent_transcript_path,
    transcript_path,
)
from nous.transcript.io.byte_source import LONGEST_LINE, ReadPosition
from nous.transcript.io.records import parse, records
from nous.transcript.model import ReadNotes
from nous.transcript.recorder.events import STAMP, TranscriptEvent

# Events that are written to the sub-agent's own transcript.
_OF_SUB_AGENTS = frozenset({"sub_agent_tool_request", "sub_agent_tool_result"})
_STREAMED = frozenset({"text_delta", "reasoning", "tool_output_chunk", "sub_agent_text_delta"})


def should_transcript(event: TranscriptEvent | Mapping[str, Any] | str) -> bool:
    """Return whether a session's transcript keeps *event* (or events of that type name).

    Streamed parts are not kept, since the whole follows; nor is the tool use of sub-agents. Unknown types are kept.
    """
    name = event.type if isinstance(event, TranscriptEvent) else event if isinstance(event, str) else event.get("type")
    return not isinstance(name, str) or name not in _STREAMED | _OF_SUB_AGENTS


Layout = Literal["lines", "array"]
Clock = Callable[[], datetime]

_now = partial(datetime.now, UTC)
_log = logging.getLogger(__name__)


class TranscriptWriter:
    """Append the events of a session to its transcript, one JSON line per event.

    Any number of threads and processes may write to one session; the events of each keep their order. A killed
    process leaves at most one torn line, and the next write begins a new one. The tool use of sub-agents goes to
    transcripts beside the session's. A failure never interrupts the agent's turn: it is logged and counted in
    `failures`.
    """

    def __init__(
        self,
        base_dir: Base,
        session_id: str | None = None,
        *,
        base: Base | None = None,
        layout: Layout = "lines",
        clock: Clock = _now,
    ) -> None:
        """Create the transcript of a session, if it is not there yet.

        The session is given as to `transcript_path`. The layout "array" rewrites one pretty array at each event, which
        is slow and meant for reading by people. Raises BadInput for an id that is no plain name, and for an unknown
        layout.
        """
        if layout not in get_args(Layout):
            raise BadInput(f"there is no layout {layout!r}; choose one of {', '.join(get_args(Layout))}")
        self._session, self._base = session_and_base(base_dir, session_id, base)
        self.path = transcript_path(self._session, base=self._base)
        self.failures = 0
        self._layout: Layout = layout
        self._clock = clock
        try:
            with locked(self.path) as file:
                if layout == "array" and not os.fstat(file).st_size:
                    os.write(file, b"[]\n")
        except OSError as error:
            self._failed(f"{self.path} could not be created: {error.strerror or error}")

    def append(self, event: TranscriptEvent | Mapping[str, Any]) -> bool:
        """Write *event*; return whether it was written: False too if it is not kept."""
        try:
            return self._append(event)
        except OSError as error:
            return self._failed(f"{self.path} could not be written: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001  an invalid event must not interrupt the agent's turn
            return self._failed(f"an event of session {self._session} was not written: {error!r}")

    def _append(self, event: TranscriptEvent | Mapping[str, Any]) -> bool:
        known = event if isinstance(event, TranscriptEvent) else TranscriptEvent.of(event)
        if not known.type:
            raise BadInput("it has no type")
        if known.type in _OF_SUB_AGENTS:
            agent, request = (str(known.fields.get(name) or "") for name in ("agent_id", "parent_request_id"))
            path = sub_agent_transcript_path(self._session, agent, request, base=self._base)
        elif should_transcript(known):
            path = self.path
        else:
            return False
        time = f"{self._clock().astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
        line = _line({STAMP: time, **known.as_json()})
        if len(line) > LONGEST_LINE:
            raise BadInput(f"it takes {len(line)} bytes, and no reader takes more than {LONGEST_LINE} on a line")
        if self._layout == "array":
            append_element(path, parse(line))
        else:
            append_line(path, line)
        return True

    def _failed(self, reason: str) -> bool:
        self.failures += 1
        if self.failures.bit_count() == 1:  # log failures 1, 2, 4, 8 ...: a full disk would fill the log too
            _log.warning("transcript_writer.append_failed: %s (%d failures so far)", reason, self.failures)
        return False


def _line(event: Mapping[str, Any]) -> bytes:
    """Encode *event* on one line; values that JSON cannot express are approximated, not lost."""
    try:
        return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return json.dumps(event, default=str, separators=(",", ":")).encode() + b"\n"


MODE = 0o600  # readable by the owner only: conversations with agents are private


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
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, MODE)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_at(path, file):
                yield file
                return
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # close would not unlock it: a forked child may have it open too
            os.close(file)


def _is_at(path: Path, file: int) -> bool:
    """Return whether *file* is still at *path*: it may be replaced during the wait for the lock."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False


def append_element(path: Path, element: dict[str, Any]) -> None:
    """Append *element* to the JSON array in the file at *path*, by atomic replacement.

    A file that cannot be read completely is not rewritten, since that would lose the rest: a line is appended to it
    instead. Raises OSError.
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


def save_summarizer_input(
    base_dir: Base, session_id: str, content: str | None = None, *, base: Base | None = None, clock: Clock = _now
) -> Path:
    """Save the summarizer input of a session, and return the path.

    The file is `summarizer-input-{session}-{epoch seconds}.md` in *base_dir*. Of two arguments, the first is the id of
    the session and the second the content; the folder is *base*, or else `~/.qbit/artifacts/compaction`. A second file
    in the same second gets a number. Raises BadInput for an id that is no plain name, and OSError.
    """
    return _save("summarizer-input", (base_dir, session_id, content), base or f"{ARTIFACTS}/compaction", clock)


def save_summary(
    base_dir: Base, session_id: str, summary: str | None = None, *, base: Base | None = None, clock: Clock = _now
) -> Path:
    """Save `summary-{session}-{epoch seconds}.md`, otherwise as `save_summarizer_input`."""
    return _save("summary", (base_dir, session_id, summary), base or f"{ARTIFACTS}/summaries", clock)


def _save(what: str, given: tuple[Base, str, str | None], base: Base, clock: Clock) -> Path:
    base, session, content = (base, str(given[0]), given[1]) if given[2] is None else (given[0], given[1], given[2])
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
