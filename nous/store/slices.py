"""Entries of a fact log as a reader wants them: rows, and the vectors that belong to them."""

from collections.abc import Callable, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from nous.errors import Misconfigured
from nous.fact import Learned, LogVersion
from nous.store.base import LogSlice
from nous.store.blocks import Place
from nous.store.rows import LogEntry


def slice_of(
    entries: Sequence[LogEntry],
    version: LogVersion,
    *,
    complete: bool,
    fetch: Callable[[Sequence[Place]], Sequence[bytes]],
) -> LogSlice:
    """Decode *entries*, which end at *version*, with the vectors that *fetch* finds in their places.

    Raises:
        Misconfigured: an entry or a vector is not what a log of this release holds.
    """
    rows = tuple(entry.row for entry in entries)
    places: dict[UUID, Place] = {}
    for row, entry in zip(rows, entries, strict=True):
        if isinstance(row, Learned) and row.embedded_by is not None and entry.slot is not None:
            places[row.fact.id] = Place(row.embedded_by, entry.slot)
    found = fetch(tuple(places.values())) if places else ()
    vectors = {fact_id: _vector(raw, place) for (fact_id, place), raw in zip(places.items(), found, strict=True)}
    return LogSlice(version=version, rows=rows, vectors=vectors, complete=complete)


def _vector(raw: bytes, place: Place) -> NDArray[np.float32]:
    if len(raw) != place.size:
        raise Misconfigured(
            f"vector {place.slot.index} of {place.embedder} has {len(raw)} bytes in the store; "
            f"its row says {place.slot.dim} numbers of 4 bytes"
        )
    return np.frombuffer(raw, dtype="<f4").astype(np.float32, copy=False)
