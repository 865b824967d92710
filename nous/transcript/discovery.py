"""Map session ids to transcript paths; list the files below a folder."""

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from nous.domain.errors import BadInput

BASE_VARIABLE = "VT_TRANSCRIPT_DIR"
"""Environment variable with the directory of all transcripts. qbit reads the same one."""

QBIT_TRANSCRIPTS = "~/.qbit/transcripts"
_LONGEST_ID = 255
_SUB_AGENTS = "subagents"  # name of the folder with the transcripts of sub-agents


def transcripts_base(base: Path | str | None = None) -> Path:
    """Return the directory of all transcripts, read or written: *base*, or the configured one."""
    # Not in our settings: agents that write transcripts read this variable too, and do not load our settings.
    return Path(base if base is not None else os.environ.get(BASE_VARIABLE) or QBIT_TRANSCRIPTS).expanduser()


Base = Path | str
"""The directory of all transcripts."""


def session_and_base(base_dir: Base, session_id: str | None, base: Base | None = None) -> tuple[str, Base | None]:
    """Sort the arguments `(base_dir, session_id)`, as specified, or `(session, base=...)`."""
    return (str(base_dir), base) if session_id is None else (session_id, base_dir)


def transcript_path(base_dir: Base, session_id: str | None = None, *, base: Base | None = None) -> Path:
    """Return where a session's transcript is written, or raise BadInput for a bad id.

    The session is *session_id* below *base_dir*. Given alone, the first argument is its id, below *base*.
    """
    session, base = session_and_base(base_dir, session_id, base)
    return transcripts_base(base) / safe_session_id(session) / "transcript.json"


def sub_agent_transcript_path(session: str, agent: str, request: str, *, base: Path | str | None = None) -> Path:
    """Return where the transcript of a sub-agent of *session* is written.

    *request* is the id of the call that started *agent*. Raises BadInput as `transcript_path`.
    """
    name = safe_session_id(f"{safe_session_id(agent)}-{safe_session_id(request)}")
    return transcript_path(session, base=base).parent / _SUB_AGENTS / name / "transcript.json"


def find_transcript(session: str, *, base: Path | str | None = None) -> Path | None:
    """Return the transcript of *session*, also at a path of the first release; None if none."""
    written = transcript_path(session, base=base)
    first_name = f"transcript-{session}.jsonl"
    places = (written, transcripts_base(base) / first_name, written.with_name(first_name))
    return next((place for place in places if place.is_file()), None)


def safe_session_id(session: str) -> str:
    """Return *session* if it is a plain name; raise BadInput otherwise."""
    if not is_plain_name(session):
        raise BadInput(f"{session[:_LONGEST_ID]!r} cannot be the id of a session: it has to be a plain name")
    return session


def is_plain_name(name: str) -> bool:
    """Return whether *name* is a safe file name: printable, not blank, no path, not too long."""
    is_printable = bool(name.strip()) and name.isprintable() and len(name.encode(errors="replace")) <= _LONGEST_ID
    return is_printable and name not in {".", ".."} and not set(name) & set("/\\")


_OF_PROGRAMS = frozenset({"__pycache__", "node_modules"})
_OF_A_TREE = frozenset({"session", "message"})
"""Folders of OpenCode's storage: files in the first are sessions, files in the second are parts of them."""


def below(
    folder: Path,
    unreadable: Callable[[Path, str], object],
    *,
    left_out: Callable[[Collection[str]], Collection[str]] = lambda _: (),
) -> Iterator[Path]:
    """Yield the files in *folder*, in the order of their names, then those in its subfolders.

    Opens nothing and yields no pipes. Skips hidden names (unless *folder* itself is hidden), folders of programs such
    as `node_modules`, and the names that *left_out* returns. Follows links to files but not to folders, so there are no
    cycles. Calls *unreadable* for each folder that cannot be read, with the reason.
    """

    def complain(error: OSError) -> None:
        unreadable(Path(error.filename), f"it could not be read: {error.strerror or error}")

    for where, folders, files in os.walk(folder, onerror=complain):
        shown = {name for name in (*folders, *files) if not name.startswith(".")}
        wanted = shown - {*_OF_PROGRAMS, *left_out(shown)}
        folders[:] = sorted(wanted.intersection(folders))
        # Path.is_file raises PermissionError for a link into a closed folder; os.path.isfile never raises.
        yield from filter(os.path.isfile, (Path(where, name) for name in sorted(wanted.intersection(files))))


def parts_of_sessions(names: Collection[str]) -> Collection[str]:
    """Return which folder *names* hold parts: sub-agents', and messages in files of their own."""
    return {_SUB_AGENTS, "message", "part"} if set(names) >= _OF_A_TREE else {_SUB_AGENTS}
