"""What the bus in memory keeps of each group."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from nous.bus.base import Lane
from nous.bus.mishaps import Mishap
from nous.bus.progress import Progress
from nous.effects import Write


@dataclass(slots=True)
class Pending:
    progress: Progress
    lease_ends: float
    history: tuple[Mishap, ...] = ()


@dataclass(slots=True)
class Group:
    """What one group was offered: how far it has read each lane, what is pending, and what became of the rest."""

    read: Counter[Lane] = field(default_factory=Counter[Lane])
    pending: dict[str, Pending] = field(default_factory=dict[str, Pending])
    counts: Counter[str] = field(default_factory=Counter[str])
    skipped: dict[UUID, str] = field(default_factory=dict[UUID, str])


def write_nothing(_: Sequence[Write]) -> str | None:
    return None
