"""Rows of vectors, a block at a time: as they are, or in a quarter of the room."""

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 4096
"""Vectors in a block. Blocks are added, never copied; the part of one that is not written yet takes no memory."""

_STEPS = 127
_ROUNDING = 1e-6


class Block(Protocol):
    """Some rows, whichever way they are kept. `loss` is how far a cosine with a unit vector may be off."""

    loss: float

    def cosines(self, vectors: "NDArray[np.float32]", *, rows: int) -> "NDArray[np.float32]":
        """How near the first *rows* are to each of *vectors*, in shape (rows, len(vectors))."""
        ...


class Exact:
    """Rows of float32."""

    loss = 0.0

    def __init__(self, dim: int) -> None:
        self.rows: NDArray[np.float32] = np.empty((ROWS, dim), dtype=np.float32)

    def cosines(self, vectors: "NDArray[np.float32]", *, rows: int) -> "NDArray[np.float32]":
        return self.rows[:rows] @ vectors.T


class Packed:
    """Rows of one byte a number, with a scale for each row.

    A cosine is off by no more than what rounding took from the row is long: some .009 for vectors of texts.
    """

    def __init__(self, block: Exact) -> None:
        self._scales: NDArray[np.float32] = np.abs(block.rows).max(axis=1, keepdims=True) / np.float32(_STEPS)
        self._steps: NDArray[np.int8] = np.rint(block.rows / self._scales).astype(np.int8)
        lost = block.rows - self._steps * self._scales
        self.loss = float(np.linalg.norm(lost, axis=1).max()) + _ROUNDING

    def cosines(self, vectors: "NDArray[np.float32]", *, rows: int) -> "NDArray[np.float32]":
        return self._steps[:rows].astype(np.float32) @ vectors.T * self._scales[:rows]
