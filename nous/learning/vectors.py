"""The vectors of a scope's facts, and which of them are near one."""

from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from nous.errors import BadInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 4096
"""Vectors in a block. Blocks are added, never copied; the part of one that is not written yet takes no memory."""

MOST = 1000
"""Neighbours that are handed out at most, the nearest."""

_ROUNDING = 1e-3


class Vectors:
    """Rows of float32, one a fact, in the order they were added."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._ids: list[UUID] = []
        self._blocks: list[NDArray[np.float32]] = []

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, fact_id: UUID, vector: "NDArray[np.float32]") -> None:
        """Add a row.

        Raises:
            BadInput: it is not a vector of this dimension and of length 1.
        """
        checked(vector[np.newaxis, :], rows=1, dim=self._dim)
        block, row = divmod(len(self._ids), ROWS)
        if block == len(self._blocks):
            self._blocks.append(np.empty((ROWS, self._dim), dtype=np.float32))
        self._blocks[block][row] = vector
        self._ids.append(fact_id)

    def near(self, vector: "NDArray[np.float32]", floor: float) -> list[tuple[UUID, float]]:
        """The facts whose cosine with *vector* is at least *floor*, and that cosine; nearest first."""
        similarities = self._similarities(vector)
        found = np.flatnonzero(similarities >= floor)
        nearest = found[np.argsort(-similarities[found], kind="stable")][:MOST]
        return [(self._ids[at], float(similarities[at])) for at in nearest]

    def _similarities(self, vector: "NDArray[np.float32]") -> "NDArray[np.float32]":
        written = [block[: len(self._ids) - number * ROWS] @ vector for number, block in enumerate(self._blocks)]
        return np.concatenate(written) if written else np.empty(0, dtype=np.float32)


def checked(vectors: "NDArray[np.float32]", *, rows: int, dim: int) -> "NDArray[np.float32]":
    """*vectors* as they are, if they are *rows* unit vectors of *dim* numbers.

    Raises:
        BadInput: they are not. A zero vector is near everything or nothing, so it is never scored.
    """
    if vectors.shape != (rows, dim):
        raise BadInput(f"{rows} vectors of {dim} numbers were expected, not an array of shape {vectors.shape}")
    if not (np.abs(np.linalg.norm(vectors, axis=1) - 1) <= _ROUNDING).all():
        raise BadInput("a vector has to have length 1, and one of these has not")
    return vectors
