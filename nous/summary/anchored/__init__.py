"""Define the `Summarizer` protocol that updates a session's rolling summary, and its error."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from nous.domain.anchored_summary import AnchoredSummary
from nous.domain.errors import NousError
from nous.domain.summary_input import Segment


class FailureKind(StrEnum):
    TIMEOUT = "timeout"
    TRANSPORT = "transport"
    PARSE = "parse"
    OTHER = "other"


class SummarizerError(NousError):
    """The summary was not updated; the old one stays valid, the segments are due again."""

    def __init__(self, kind: FailureKind | str, message: str = "") -> None:
        self.kind = FailureKind(kind)
        kind = "" if self.kind is FailureKind.OTHER else f" {self.kind}"
        super().__init__("summarizer timed out" if self.kind is FailureKind.TIMEOUT else f"summarizer{kind}: {message}")


class Summarizer(Protocol):
    """Update a session's rolling summary with new segments. Thread-safe."""

    def summarize(self, segments: Sequence[Segment], existing_summary: AnchoredSummary | None) -> AnchoredSummary:
        """Return *existing_summary*, None the first time, updated with *segments*.

        The result's `iteration` is one more than before, at first 1, and nothing of the existing summary is missing.
        Idempotent. Raises `SummarizerError` if there is none; its `kind` says why.
        """
        ...
