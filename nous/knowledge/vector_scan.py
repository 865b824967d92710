"""Exact nearest-neighbor search over the fact vectors of a scope, in memory."""

from collections.abc import Iterator, Sequence
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

    def near(self, vectors: "NDArray[np.float32]", floor: float) -> Sequence[Iterator[tuple[UUID, float]]]:
        """Return, for each of *vectors*, the facts with a cosine of at least *floor*, nearest first."""
        found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))]
        for number, block in enumerate(self._blocks):
            first = number * ROWS
            cosines = block[: len(self._ids) - first] @ vectors.T
            rows, asked = np.nonzero(cosines >= floor)
            found.append((rows + first, asked, cosines[rows, asked]))
        rows, asked, cosines = map(np.concatenate, zip(*found, strict=True))
        return [self._nearest(rows[asked == each], cosines[asked == each]) for each in range(len(vectors))]

    def _nearest(self, rows: "NDArray[np.int64]", cosines: "NDArray[np.float32]") -> Iterator[tuple[UUID, float]]:
        order = np.argsort(-cosines, kind="stable")
        return zip(map(self._ids.__getitem__, rows[order].tolist()), cosines[order].tolist(), strict=True)


def checked(vectors: "NDArray[np.float32]", *, rows: int, dim: int) -> "NDArray[np.float32]":
    """Return *vectors* if they are *rows* unit vectors of *dim* numbers. Raises `BadInput`."""
    if vectors.shape != (rows, dim):
        raise BadInput(f"{rows} vectors of {dim} numbers were expected, not an array of shape {vectors.shape}")
    if not (abs(np.sqrt(np.square(vectors).sum(axis=1)) - 1) <= _ROUNDING).all():
        raise BadInput("a vector has to have length 1, and one of these has not")
    return vectors
