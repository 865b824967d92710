"""Where episodes, facts and transcripts are read. Writing is the bus's: it commits what a handler returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from nous.episode import Episode
from nous.events import SessionEnded
from nous.fact import LogVersion, Row
from nous.scope import Scope
from nous.transcript.model import Transcript

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Episodes(Protocol):
    """The episodes of every scope, each in its current version."""

    def get(self, scope: Scope, episode_id: UUID) -> Episode | None: ...

    def recent(self, scope: Scope, limit: int = 50) -> Sequence[Episode]:
        """The *limit* episodes that ended last, newest first."""
        ...

    def scopes(self) -> Sequence[Scope]:
        """Every scope that has an episode or a fact, in order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSlice:
    """Rows of a scope's log up to *version*, and the vectors of the facts they learned.

    `complete` means that they begin at the log's first row, so that whatever was read before has to be forgotten.
    """

    version: LogVersion
    rows: tuple[Row, ...]
    vectors: "Mapping[UUID, NDArray[np.float32]]" = field(default_factory=dict)
    complete: bool = True


class FactLog(Protocol):
    """The append-only log of what each scope knows."""

    def read(self, scope: Scope, *, after: LogVersion | None = None) -> LogSlice:
        """The rows after *after*, or all of them when there is no *after* or the log no longer continues it."""
        ...


class Transcripts(Protocol):
    """Finds and reads the transcript that an event speaks of."""

    def read(self, event: SessionEnded) -> Transcript:
        """The transcript, inline or referred to.

        Raises:
            BadInput: it is gone, unreadable, or of no known format.
            Unavailable: its store did not answer.
        """
        ...
