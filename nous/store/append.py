"""What appending to a fact log writes, worked out before anything is written."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from nous.effects import AppendFacts
from nous.errors import BadInput, Misconfigured
from nous.fact import Learned, LogVersion, Row, embedding
from nous.store.blocks import Place
from nous.store.rows import LogEntry, Slot, chained

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Continuation:
    """Entries that continue a log, the version it has then, and the vectors as bytes, each with its place."""

    entries: tuple[LogEntry, ...]
    version: LogVersion
    vectors: tuple[tuple[Place, bytes], ...]


def continuation(write: AppendFacts) -> Continuation:
    """Work out what *write* adds to the log it expects.

    Raises:
        BadInput: a vector is missing, superfluous, zero, not finite or not one-dimensional.
        Misconfigured: an embedder made vectors of different lengths.
    """
    embedders = _embedders(write)
    _check_dimensions(embedders, write.vectors)
    rows: list[tuple[Row, Slot | None]] = []
    vectors: list[tuple[Place, bytes]] = []
    for row in write.rows:
        embedded = embedding(row)
        if embedded is None:
            rows.append((row, None))
            continue
        fact_id, embedder = embedded
        vector = write.vectors[fact_id]
        slot = Slot(write.expected.vectors + len(vectors), len(vector))
        rows.append((row, slot))
        vectors.append((Place(embedder, slot), _float32(vector)))
    entries, version = chained(rows, write.expected)
    return Continuation(entries, version, tuple(vectors))


def _embedders(write: AppendFacts) -> dict[UUID, str]:
    """The embedder of each fact that has to come with a vector."""
    learned = Counter(row.fact.id for row in write.rows if isinstance(row, Learned))
    embedded = [found for row in write.rows if (found := embedding(row))]
    embedders = dict(embedded)
    if repeated := [fact_id for fact_id, times in learned.items() if times > 1]:
        raise BadInput(f"fact {repeated[0]} is learned twice in one append")
    if len(embedders) < len(embedded):
        raise BadInput("a fact gets two vectors in one append")
    if odd := embedders.keys() ^ write.vectors.keys():
        raise BadInput(f"fact {min(odd)} has a vector and no embedder, or an embedder and no vector")
    return embedders


def _check_dimensions(embedders: Mapping[UUID, str], vectors: "Mapping[UUID, NDArray[np.float32]]") -> None:
    dimensions: dict[str, int] = {}
    for fact_id, embedder in embedders.items():
        vector = vectors[fact_id]
        if vector.ndim != 1 or not 0 < float(vector @ vector) < math.inf:
            raise BadInput(f"the vector of fact {fact_id} is zero, not finite or not one-dimensional")
        if len(vector) != dimensions.setdefault(embedder, len(vector)):
            raise Misconfigured(f"{embedder} made vectors of {dimensions[embedder]} and of {len(vector)} numbers")


def _float32(vector: "NDArray[np.float32]") -> bytes:
    return vector.astype("<f4").tobytes()
