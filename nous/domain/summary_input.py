"""What a summarizer is given of a session. It is small and it is kept, so that an episode can be made anew from it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from nous.domain.episode import Decision

BETWEEN = "\n\n"
"""What stands between two passages."""


class Passage(NamedTuple):
    """A paragraph of an excerpt, label included: whose it is and in which turn it stood.

    What an excerpt says in its own name, such as the mark of a gap, has no role, and 0 for its turn.
    """

    text: str
    role: str = ""
    turn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """A session as a summarizer sees it: the excerpt of each window, in passages, and what was decided."""

    windows: tuple[tuple[Passage, ...], ...]
    decisions: tuple[Decision, ...] = ()

    @property
    def passages(self) -> Iterable[Passage]:
        return (passage for window in self.windows for passage in window)


MOST_CANDIDATES = 50
"""Facts of an episode. No honest session reaches it; a model that repeats itself does."""

MOST_POINTS = 10
"""Key points of a summary."""
