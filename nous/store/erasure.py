"""Taking from the store what was forgotten."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from nous.domain.fact import LogVersion, Row, embedding
from nous.domain.scope import Scope
from nous.facts.erase import Erased
from nous.store.fact_rows import LogEntry, Place, Slot, chained

Rewrite = Callable[[Sequence[Row]], Erased]


class Erasure(Protocol):
    """Removes, and counts what was removed, by store. With *dry_run* it only counts.

    Every method may be called again, also after one that broke off; it then finds less to do. Each raises `Unavailable`
    when the store does not answer.
    """

    def episodes(self, scope: Scope) -> frozenset[UUID]:
        """The episodes of all sessions that have left something in *scope*."""
        ...

    def rows(self, scope: Scope) -> Sequence[Row]:
        """The log of *scope*."""
        ...

    def session(self, scope: Scope, session_id: str, *, dry_run: bool = False) -> Counter[str]:
        """Remove all that is kept of a session but what the log says of it."""
        ...

    def candidates(self, scope: Scope, forms: Collection[str], *, dry_run: bool = False) -> Counter[str]:
        """Remove from all editions of all episodes the candidate facts that say something of *forms*."""
        ...

    def everything(self, scope: Scope, *, dry_run: bool = False) -> Counter[str]:
        """Remove all that is kept of a scope, its log too."""
        ...

    def rewrite(self, scope: Scope, rewrite: Rewrite) -> Erased:
        """Put what *rewrite* makes of the log in its place, as a log of another epoch.

        Whoever has read the old one is refused when he appends, and reads the new one from its beginning.

        Raises:
            Retryable: others appended to it all the time.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLog:
    """A log as it is written anew, and for each vector that it keeps, from where to where it moves."""

    entries: tuple[LogEntry, ...]
    version: LogVersion
    moves: tuple[tuple[Place, Place], ...]


def new_log(entries: Sequence[LogEntry], erased: Erased, *, after: LogVersion) -> NewLog:
    """What is to be stored of *erased*, which was made of *entries*, the log at *after*.

    Its hash chain begins with the epoch, so that no version of it is one of the old log's.
    """
    rows: list[tuple[Row, Slot | None]] = []
    moves: list[tuple[Place, Place]] = []
    for row, at in erased.rows:
        found, old = embedding(row), entries[at].slot
        slot = None
        if found and old:
            slot = Slot(len(moves), old.dim)
            moves.append((Place(found[1], old), Place(found[1], slot)))
        rows.append((row, slot))
    epoch = after.epoch + 1
    chained_entries, version = chained(rows, LogVersion(chain=f"epoch-{epoch}", epoch=epoch))
    return NewLog(entries=chained_entries, version=version, moves=tuple(moves))
