"""The seam to whoever makes an anchored summary, with a model or without."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from nous.domain.anchored_summary import AnchoredSummary
from nous.domain.errors import NousError
from nous.domain.summary_input import Passage


class Trouble(StrEnum):
    """What kept a summarizer from its work."""

    TIMEOUT = "timeout"
    TRANSPORT = "transport"
    PARSE = "parse"
    OTHER = "other"


class SummarizerError(NousError):
    """There is no new summary. The old one stands, and the segments are due again next time."""

    def __init__(self, kind: Trouble | str, message: str = "") -> None:
        self.kind = Trouble(kind)
        super().__init__(_text(self.kind, message))


class Summarizer(Protocol):
    """Makes a session's summary anew from what was said since. Safe to call from many threads at once."""

    def summarize(self, segments: Sequence[Passage], existing_summary: AnchoredSummary | None) -> AnchoredSummary:
        """*existing_summary*, None the first time, with the news of *segments*.

        Its `iteration` is one more than that of the existing one, and 1 the first time. Nothing that was in the
        existing one is missing, and asking again gives the same summary.

        Raises:
            SummarizerError: there is none; `kind` says why.
        """
        ...


def _text(kind: Trouble, message: str) -> str:
    match kind:
        case Trouble.TIMEOUT:
            return "summarizer timed out"
        case Trouble.TRANSPORT | Trouble.PARSE:
            return f"summarizer {kind}: {message}"
        case Trouble.OTHER:
            return f"summarizer: {message}"
