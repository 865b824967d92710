"""Value types of a summarizer's input: the excerpt of a session and its decisions.

It is small and stored, so that an episode can be regenerated from it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from nous.domain.episode import Decision

BETWEEN = "\n\n"
"""Separator of two segments."""


class Segment(NamedTuple):
    """A labelled paragraph of an excerpt; the mark of a gap has no role, and turn 0."""

    text: str
    role: str = ""
    turn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryInput:
    """A session as a summarizer sees it: the segments of each window, and the decisions.

    `heading` names date, agent, directory, repository and branch, as far as they are known.
    """

    windows: tuple[tuple[Segment, ...], ...]
    decisions: tuple[Decision, ...] = ()
    heading: str = ""

    @property
    def segments(self) -> Iterable[Segment]:
        return (segment for window in self.windows for segment in window)


MOST_CANDIDATES = 50
"""Maximum facts per episode. No real session reaches it; a model that repeats itself does."""

MOST_POINTS = 10
"""Maximum key points of a summary."""
