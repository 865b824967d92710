"""Where agents keep their transcripts, found by the id of the session."""

import os
from pathlib import Path

from nous.errors import BadInput

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
