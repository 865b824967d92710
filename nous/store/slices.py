"""Entries of a fact log as a reader wants them: rows, and the vectors that belong to them."""

from collections.abc import Callable, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from nous.errors import Misconfigured
from nous.fact import LogVersion, embedding
from nous.store.base import LogSlice
from nous.store.blocks import Place
from nous.store.rows import LogEntry


def slice_of(
    entries: Sequence[LogEntry],
    version: LogVersion,
    *,
    complete: bool,
    embedder: str | None,
    fetch: Callable[[Sequence[Place]], Sequence[bytes]],
) -> LogSlice:
    """Decode *entries*, which end at *version*, with the vectors by *embedder* that *fetch* finds in their places.

    Without an *embedder*, each fact comes with the vector that it got last.

    Raises:
        Misconfigured: an entry or a vector is not what a log of this release holds.
    """
    rows = tuple(entry.row for entry in entries)
    places: dict[UUID, Place] = {}
    for row, entry in zip(rows, entries, strict=True):
        if (found := embedding(row)) and entry.slot is not None and embedder in {None, found[1]}:
            places[found[0]] = Place(found[1], entry.slot)
    stored = fetch(tuple(places.values())) if places else ()
    vectors = {fact_id: _vector(raw, place) for (fact_id, place), raw in zip(places.items(), stored, strict=True)}
    slots = {fact_id: place.slot.index for fact_id, place in places.items()}
    return LogSlice(version=version, rows=rows, vectors=vectors, slots=slots, complete=complete)


def version_at(entries: Sequence[LogEntry], head: LogVersion, *, after: LogVersion | None) -> LogVersion:
    """The version that a log had, whose version is *head* now, when *entries*, which follow *after*, ended it."""
    before = after or LogVersion()
    if before.n + len(entries) == head.n:
        return head
    chain = entries[-1].chain if entries else before.chain
    vectors = before.vectors + sum(entry.slot is not None for entry in entries)
    return LogVersion(before.n + len(entries), chain, head.epoch, vectors)


def as_rows(stored: Sequence[bytes], places: Sequence[Place], dim: int) -> NDArray[np.float32]:
    """Vectors of *dim* numbers as they are *stored* in *places*, a row for each."""
    rows = [_vector(raw, place) for raw, place in zip(stored, places, strict=True)]
    return np.stack(rows) if rows else np.empty((0, dim), dtype=np.float32)


def _vector(raw: bytes, place: Place) -> NDArray[np.float32]:
    if len(raw) != place.size:
        raise Misconfigured(
            f"vector {place.slot.index} of {place.embedder} has {len(raw)} bytes in the store; "
            f"its row says {place.slot.dim} numbers of 4 bytes"
        )
    return np.frombuffer(raw, dtype="<f4").astype(np.float32, copy=False)
