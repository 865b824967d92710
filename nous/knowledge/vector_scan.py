"""Exact nearest-neighbor search over the fact vectors of a scope, in memory."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from nous.domain.errors import BadInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 4096  # vectors in a block. Blocks are added, never copied; the unwritten part of a block takes no memory
_ROUNDING = 1e-3


class ExactScanIndex:
    """Index of vectors by exhaustive scan: a row for each fact, in the order they were added."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._ids: list[UUID] = []
        self._blocks: list[NDArray[np.float32]] = []

    def add(self, fact_id: UUID, vector: "NDArray[np.float32]") -> None:
        """Add a row. Raises `BadInput` unless it is a unit vector of this dimension."""
        checked(vector[None], rows=1, dim=self._dim)
        row = len(self._ids) % ROWS
        if row == 0:
            self._blocks.append(np.empty((ROWS, self._dim), dtype=np.float32))
        self._blocks[-1][row] = vector
        self._ids.append(fact_id)

    def near(self, vector: "NDArray[np.float32]", floor: float) -> Iterator[tuple[UUID, float]]:
        """Yield the facts with a cosine of at least *floor* to *vector*, nearest first."""
        last = len(self._ids) % ROWS or ROWS
        blocks = [*self._blocks[:-1], *(block[:last] for block in self._blocks[-1:])]
        cosines = np.concatenate([np.empty(0, np.float32), *(block @ vector for block in blocks)])
        rows = np.flatnonzero(cosines >= floor)
        nearest = rows[np.argsort(-cosines[rows], kind="stable")]
        return zip(map(self._ids.__getitem__, nearest.tolist()), cosines[nearest].tolist(), strict=True)


def checked(vectors: "NDArray[np.float32]", *, rows: int, dim: int) -> "NDArray[np.float32]":
    """Return *vectors* if they are *rows* unit vectors of *dim* numbers. Raises `BadInput`."""
    if vectors.shape != (rows, dim):
        raise BadInput(f"{rows} vectors of {dim} numbers were expected, not an array of shape {vectors.shape}")
    if not (abs(np.sqrt(np.square(vectors).sum(axis=1)) - 1) <= _ROUNDING).all():
        raise BadInput("a vector has to have length 1, and one of these has not")
    return vectors
