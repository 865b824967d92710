"""Where agents keep their transcripts, found by the id of the session."""

from pathlib import Path

from nous.errors import BadInput

QBIT_TRANSCRIPTS = "~/.qbit/transcripts"
"""Where qbit keeps them: one directory a session."""

_LONGEST_ID = 255


def transcript_path(session: str, *, base: Path | None = None) -> Path:
    """Where the transcript of *session* is written, below *base* (default `QBIT_TRANSCRIPTS`).

    Refuses, as BadInput, every id that could name something outside of its own directory.
    """
    return _base(base) / safe_session_id(session) / "transcript.json"


def find_transcript(session: str, *, base: Path | None = None) -> Path | None:
    """The transcript of *session* if there is one, in today's place or in the one of the first release."""
    written = transcript_path(session, base=base)
    places = (written, _base(base) / f"transcript-{session}.jsonl", written.with_name(f"transcript-{session}.jsonl"))
    return next((place for place in places if place.is_file()), None)


def safe_session_id(session: str) -> str:
    """*session*, if it is a plain name: not empty, without separators or NUL, not `..`, no longer than a file name."""
    if not session.strip() or session in {".", ".."} or not session.isprintable() or set(session) & set("/\\\0"):
        raise BadInput(f"{session!r} cannot be the id of a session: it has to be a plain name")
    if len(session.encode(errors="replace")) > _LONGEST_ID:
        raise BadInput(f"a session id of {len(session)} characters is too long; {_LONGEST_ID} bytes are allowed")
    return session


def _base(base: Path | None) -> Path:
    return base if base is not None else Path(QBIT_TRANSCRIPTS).expanduser()
