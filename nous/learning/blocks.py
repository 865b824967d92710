"""Rows of vectors, a block at a time: as they are, or in a quarter of the room."""

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 4096
"""Vectors in a block. Blocks are added, never copied; the part of one that is not written yet takes no memory."""

LOSS = 0.01
"""How far a cosine from packed rows may be off. Of 384 numbers each is off by half a step of 1/127 of the largest, with
either sign: that adds up to .0005, seldom to .002; packed rows that look that near are scored again.
"""

_STEPS = 127


class Block(Protocol):
    """Some rows, whichever way they are kept."""

    def cosines(self, vectors: "NDArray[np.float32]", *, rows: int) -> "NDArray[np.float32]":
        """How near the first *rows* are to each of *vectors*, in shape (rows, len(vectors))."""
        ...


class Exact:
    """Rows of float32."""

    def __init__(self, dim: int) -> None:
        self.rows: NDArray[np.float32] = np.empty((ROWS, dim), dtype=np.float32)

    def cosines(self, vectors: "NDArray[np.float32]", *, rows: int) -> "NDArray[np.float32]":
        return self.rows[:rows] @ vectors.T


class Packed:
    """Rows of one byte a number, with a scale for each row: off by `LOSS` at most."""

    def __init__(self, block: Exact) -> None:
        self._scales: NDArray[np.float32] = np.abs(block.rows).max(axis=1) / np.float32(_STEPS)
        self._steps: NDArray[np.int8] = np.rint(block.rows / self._scales[:, np.newaxis]).astype(np.int8)

    def cosines(self, vectors: "NDArray[np.float32]", *, rows: int) -> "NDArray[np.float32]":
        return self._steps[:rows].astype(np.float32) @ vectors.T * self._scales[:rows, np.newaxis]
