"""Where agents keep their transcripts, found by the id of the session."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from nous.domain.errors import BadInput
from nous.transcript.model import Entry, Kind, SubAgent

BASE_VARIABLE = "VT_TRANSCRIPT_DIR"
"""The variable of the environment that says where transcripts are kept. qbit reads the same one."""

QBIT_TRANSCRIPTS = "~/.qbit/transcripts"
"""Where they are kept otherwise: one directory a session."""

_LONGEST_ID = 255


def transcripts_base(base: Path | str | None = None) -> Path:
    """The directory of all transcripts, for those who write and those who read: *base*, or else what is configured.

    Raises BadInput if it is the home of a user whom nobody knows.
    """
    # Not a setting of ours: agents that write transcripts share this variable, and they do not load our settings.
    configured = Path(base if base is not None else os.environ.get(BASE_VARIABLE) or QBIT_TRANSCRIPTS)
    try:
        return configured.expanduser()
    except RuntimeError as error:
        raise BadInput(f"{configured} cannot be the directory of transcripts: {error}") from error


def transcript_path(session: str, *, base: Path | str | None = None) -> Path:
    """Where the transcript of *session* is written, below *base* (default `transcripts_base`).

    Refuses, as BadInput, every id that could name something outside of its own directory.
    """
    return transcripts_base(base) / safe_session_id(session) / "transcript.json"


def sub_agent_transcript_path(session: str, agent: str, request: str, *, base: Path | str | None = None) -> Path:
    """Where a sub-agent's transcript is written: that of *agent*, started by the call *request* of *session*."""
    name = safe_session_id(f"{safe_session_id(agent)}-{safe_session_id(request)}")
    return transcript_path(session, base=base).parent / "subagents" / name / "transcript.json"


def find_transcript(session: str, *, base: Path | str | None = None) -> Path | None:
    """The transcript of *session* if there is one, in today's place or in the one of the first release."""
    written = transcript_path(session, base=base)
    places = (
        written,
        transcripts_base(base) / f"transcript-{session}.jsonl",
        written.with_name(f"transcript-{session}.jsonl"),
    )
    return next((place for place in places if place.is_file()), None)


def safe_session_id(session: str) -> str:
    """*session*, if it is a plain name: not empty, without separators or NUL, not `..`, no longer than a file name."""
    if not session.strip() or session in {".", ".."} or not session.isprintable() or set(session) & set("/\\\0"):
        raise BadInput(f"{session!r} cannot be the id of a session: it has to be a plain name")
    if len(session.encode(errors="replace")) > _LONGEST_ID:
        raise BadInput(f"a session id of {len(session)} characters is too long; {_LONGEST_ID} bytes are allowed")
    return session


_NAMED_IN_RESULT = re.compile(r"\bagentId: *(\w{4,64})")
FOLDER = "subagents"
"""Where they lie."""


def sub_agents_beside(path: Path, entries: Sequence[Entry]) -> tuple[SubAgent, ...]:
    """The sub-agents of the session at *path* with *entries*, by their ids; none if it is a sub-agent's itself.

    Claude Code keeps them in `<session>/subagents/agent-<id>.jsonl`, qbit in `subagents/<id>-<call>/transcript.json`,
    Cursor in `subagents/<id>.jsonl`. Raises OSError.
    """
    if FOLDER in {path.parent.name, path.parent.parent.name}:
        return ()
    found = {_name_of(place): place for place in _sub_agent_places(path)}
    calls = _calls_by_agent(entries, found)
    return tuple(SubAgent(name, str(place), calls.get(name)) for name, place in sorted(found.items()))


def _sub_agent_places(path: Path) -> Iterator[Path]:
    own = path.name.partition(".")[0]
    for folder in (path.parent / own / FOLDER, path.parent / FOLDER):
        if folder.is_dir():
            yield from folder.glob("*.jsonl")
            yield from folder.glob("*/transcript.json")


def _name_of(place: Path) -> str:
    return place.parent.name if place.name == "transcript.json" else place.stem.removeprefix("agent-")


def _calls_by_agent(entries: Iterable[Entry], names: Iterable[str]) -> dict[str, str]:
    """Which call started a sub-agent: its result names the agent, or the agent is called after it."""
    known = frozenset(names)
    calls: dict[str, str] = {}
    for entry in entries:
        if entry.call_id is None:
            continue
        if entry.kind is Kind.TOOL_CALL:
            calls |= {name: entry.call_id for name in known if name.endswith(f"-{entry.call_id}")}
        elif entry.kind is Kind.TOOL_RESULT:
            calls |= {name: entry.call_id for name in _NAMED_IN_RESULT.findall(entry.text) if name in known}
    return calls


_OF_PROGRAMS = frozenset({"__pycache__", "node_modules"})
_OF_A_TREE = frozenset({"session", "message"})
"""The folders of OpenCode's storage: the files in the first are sessions, those in the second are parts of them."""

LeftOut = Callable[[Collection[str]], Collection[str]]
"""Which of the names in one folder are not looked at."""

Unreadable = Callable[[Path, str], object]
"""Is told of a folder that could not be read, and why."""


def below(folder: Path, unreadable: Unreadable, *, left_out: LeftOut = lambda _: ()) -> Iterator[Path]:
    """The files in *folder* and below, in the order of their names; no pipes, and nothing is opened.

    Left out are what is hidden, unless it is *folder* itself, what belongs to programs, and what is *left out*. A link
    to a file is followed, and one to a folder is not: so nothing goes round in circles.
    """
    waiting = list(_places(folder, unreadable, left_out))
    while waiting:
        place = waiting.pop()
        if place.is_dir(follow_symlinks=False):
            waiting.extend(_places(Path(place.path), unreadable, left_out))
        elif _is_file(place):
            yield Path(place.path)


def parts_of_sessions(names: Collection[str]) -> Collection[str]:
    """Of the *names* in a folder, those of folders whose files are no sessions but parts of one.

    They are read with it: what its sub-agents said, and its messages, where each lies in a file of its own.
    """
    return {FOLDER, "message", "part"} if set(names) >= _OF_A_TREE else {FOLDER}


def _places(folder: Path, unreadable: Unreadable, left_out: LeftOut) -> list[os.DirEntry[str]]:
    """What is in *folder*, the last name first."""
    try:
        with os.scandir(folder) as listing:
            places = {place.name: place for place in listing if not place.name.startswith(".")}
    except OSError as error:
        unreadable(folder, f"it could not be read: {error.strerror or error}")
        return []
    unwanted = {*_OF_PROGRAMS, *left_out(places.keys())}
    return [places[name] for name in sorted(places, reverse=True) if name not in unwanted]


def _is_file(place: os.DirEntry[str]) -> bool:
    with suppress(OSError):  # a link that leads to itself, say
        return place.is_file()
    return False
