"""Port for erasing stored data, and the computation of a rewritten fact log."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from nous.domain.fact import LogVersion, Row, embedding
from nous.domain.scope import Scope
from nous.knowledge.erase import Erased
from nous.store.fact_rows import LogEntry, Slot, VectorSlot, chained

Rewrite = Callable[[Sequence[Row]], Erased]


class Erasure(Protocol):
    """Remove stored data; return the number of removed items by store.

    With *dry_run* nothing is removed, only counted. Every method is idempotent and can be repeated after a failure; it
    then finds less to do. Each raises `Unavailable` if the store does not answer.
    """

    def episodes(self, scope: Scope) -> frozenset[UUID]:
        """Return the episode ids of all sessions that left data in *scope*."""
        ...

    def rows(self, scope: Scope) -> Sequence[Row]:
        """Return the fact log of *scope*."""
        ...

    def session(self, scope: Scope, session_id: str, *, dry_run: bool = False) -> Counter[str]:
        """Remove everything stored for a session, except rows of the fact log."""
        ...

    def candidates(self, scope: Scope, forms: Collection[str], *, dry_run: bool = False) -> Counter[str]:
        """Remove candidate facts whose normal form is in *forms*.

        Every edition of every episode in *scope* is searched.
        """
        ...

    def everything(self, scope: Scope, *, dry_run: bool = False) -> Counter[str]:
        """Remove everything stored for *scope*, including its fact log."""
        ...

    def rewrite(self, scope: Scope, rewrite: Rewrite) -> Erased:
        """Replace the fact log of *scope* by what *rewrite* makes of it, under a new epoch.

        A writer that has read the old log gets a conflict when it appends. It then reads the new log from its
        beginning. Raises `Retryable` if others kept appending to the log.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLog:
    """A rewritten fact log to be stored.

    `moves` maps the old slot of each vector that is kept to its new slot.
    """

    entries: tuple[LogEntry, ...]
    version: LogVersion
    moves: tuple[tuple[VectorSlot, VectorSlot], ...]


def new_log(entries: Sequence[LogEntry], erased: Erased, *, after: LogVersion) -> NewLog:
    """Compute the log to store for *erased*, which was made of *entries*, the log at *after*.

    Its hash chain begins with the epoch, so no version of it equals a version of the old log.
    """
    rows: list[tuple[Row, Slot | None]] = []
    moves: list[tuple[VectorSlot, VectorSlot]] = []
    for row, at in erased.rows:
        found, old = embedding(row), entries[at].slot
        slot = None
        if found and old:
            slot = Slot(len(moves), old.dim)
            moves.append((VectorSlot(found[1], old), VectorSlot(found[1], slot)))
        rows.append((row, slot))
    epoch = after.epoch + 1
    chained_entries, version = chained(rows, LogVersion(chain=f"epoch-{epoch}", epoch=epoch))
    return NewLog(entries=chained_entries, version=version, moves=tuple(moves))
