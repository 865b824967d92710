"""Save summarizer inputs and summaries as files for later inspection."""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from nous.transcript.discovery import safe_session_id

ARTIFACTS = "~/.qbit/artifacts"


def _now() -> datetime:
    return datetime.now(UTC)


def save_summarizer_input(
    session: str, content: str, *, base: Path | str | None = None, clock: Callable[[], datetime] = _now
) -> Path:
    """Save the summarizer input of *session*, and return the path.

    The file is `summarizer-input-{session}-{epoch seconds}.md` below *base* (default `~/.qbit/artifacts/compaction`). A
    second one in the same second gets a number. Raises BadInput for an id that is no plain name, and OSError.
    """
    return _save("summarizer-input", session, content, base or f"{ARTIFACTS}/compaction", clock)


def save_summary(
    session: str, summary: str, *, base: Path | str | None = None, clock: Callable[[], datetime] = _now
) -> Path:
    """Save a *summary* of *session*, and return the path; otherwise as `save_summarizer_input`.

    The file is `summary-{session}-{epoch seconds}.md`. The default of *base* is `~/.qbit/artifacts/summaries`.
    """
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
