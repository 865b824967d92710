"""What a bus in memory knows of its groups."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from uuid import UUID

from nous.bus.base import Lane
from nous.bus.ledger import MOST_COUNTERS, OTHERS, SKIPPED, Letter
from nous.bus.letters import accepted_at
from nous.bus.mishaps import Mishap
from nous.bus.progress import Progress
from nous.effects import Write

_REMEMBERED = 3600.0

Place = tuple[str, Lane]
"""A stream: the type of its events, and its lane."""


@dataclass(slots=True)
class Pending:
    """A delivery that was offered and is not over, and what went wrong with it."""

    progress: Progress
    lease_ends: float
    history: tuple[Mishap, ...] = ()


@dataclass(slots=True)
class Group:
    """What one group was offered: how far it has read each stream, what is pending, and what became of the rest."""

    read: Counter[Place] = field(default_factory=Counter[Place])
    pending: dict[str, Pending] = field(default_factory=dict[str, Pending])
    counts: Counter[str] = field(default_factory=Counter[str])
    skipped: dict[UUID, str] = field(default_factory=dict[UUID, str])
    longest: float = 0.0
    longest_until: float = 0.0

    def count(self, outcome: str) -> None:
        """Move a counter; of reasons for skipping, there are no more than `MOST_COUNTERS` leave room for."""
        is_one_more = len(self.counts) >= MOST_COUNTERS and outcome not in self.counts
        self.counts[OTHERS if is_one_more and outcome.startswith(SKIPPED) else outcome] += 1

    def longest_lease(self, told: float, now: float) -> float:
        """The longest that was *told* within an hour before *now*, this one then included. All in seconds."""
        if told >= self.longest or now >= self.longest_until:
            self.longest, self.longest_until = told, now + _REMEMBERED
        return self.longest


def write_nothing(_: Sequence[Write]) -> str | None:
    """Stands for a store where none is needed."""
    return None


def at_rest(
    stream: Iterable[str], place: Place, readers: Sequence[Group], letters: Iterable[Letter], before: float
) -> list[str]:
    """The entries of *stream* that came *before* and that nobody comes back to (see `nous.bus.trimming`)."""
    # Their last one stays, as with a server, which needs it.
    read = islice(stream, min((max(group.read[place] - 1, 0) for group in readers), default=sys.maxsize))
    kind, lane = place
    lettered = {letter.entry for letter in letters if (letter.kind, letter.lane) == (kind, lane)}
    pending = {name for group in readers for name in group.pending}
    old = (entry for entry in read if accepted_at(entry).timestamp() <= before)
    return [entry for entry in old if entry not in lettered and f"{lane}/{entry}" not in pending]
