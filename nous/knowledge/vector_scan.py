"""Exact nearest-neighbor search over the fact vectors of a scope, in memory.

Up to `MOST_EXACT` vectors are kept as float32. Beyond that, blocks are quantized to one byte per number, so that a
million facts take 0.4 GB instead of 1.5. Rows that look near are then rescored with their own floats. Those are fetched
from the log, where they are stored anyway: in this process they would take the memory that was saved, and a file would
be a second copy.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from nous.domain.errors import BadInput
from nous.domain.fact import LogVersion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Found = tuple[NDArray[np.int64], NDArray[np.float32]]
    """Near rows and their cosines, nearest first."""


Fetch = Callable[..., "NDArray[np.float32]"]
"""Loader of the floats of quantized rows, by their slots in the log of the version *at*: `fetch(slots, at=at)`."""

ROWS = 4096  # vectors in a block. Blocks are added, never copied; the unwritten part of a block takes no memory
_STEPS = 127
_BLOCK_ROUNDING = 1e-6


class Block:
    """Rows of float32; once quantized, of int8 with a scale for each row.

    `loss` is the maximum error of a cosine with a unit vector: the length of what rounding removed from a row, about
    0.009 for vectors of texts.
    """

    def __init__(self, dim: int) -> None:
        self.rows: NDArray[np.float32 | np.int8] = np.empty((ROWS, dim), dtype=np.float32)
        self.loss = 0.0
        self._scales: NDArray[np.float32] | None = None

    @property
    def is_quantized(self) -> bool:
        return self._scales is not None

    def quantize(self) -> None:
        scales: NDArray[np.float32] = np.abs(self.rows).max(axis=1, keepdims=True) / np.float32(_STEPS)
        steps: NDArray[np.int8] = np.rint(self.rows / scales).astype(np.int8)
        self.loss = float(np.linalg.norm(self.rows - steps * scales, axis=1).max()) + _BLOCK_ROUNDING
        self.rows, self._scales = steps, scales

    def cosines(self, vectors: "NDArray[np.float32]", *, rows: int) -> "NDArray[np.float32]":
        """Return the cosines of the first *rows* with *vectors*; the shape is (rows, len(vectors))."""
        found = self.rows[:rows].astype(np.float32, copy=False) @ vectors.T
        return found if self._scales is None else found * self._scales[:rows]


MOST_EXACT = 200_000  # rows beyond which blocks are quantized: 0.3 GB at 384 numbers
MOST_RESCORED = 1000  # maximum rows whose floats are fetched for one vector, the nearest: 1.5 MB at 384 numbers
_ROUNDING = 1e-3


class ExactScanIndex:
    """Index of vectors by exhaustive scan: a row for each fact, in the order they were added.

    With *fetch*, rows beyond *most_exact* are quantized, and each needs its slot in the log.
    """

    def __init__(self, dim: int, *, fetch: Fetch | None = None, most_exact: int = MOST_EXACT) -> None:
        self._dim = dim
        self._fetch = fetch
        self._most_exact = most_exact
        self._ids: list[UUID] = []
        self._slots = array("q")
        self._blocks: list[Block] = []

    def add(self, fact_id: UUID, vector: "NDArray[np.float32]", *, slot: int = -1) -> None:
        """Add a row. Raises `BadInput` unless it is a unit vector of this dimension."""
        checked(vector[None], rows=1, dim=self._dim)
        row = len(self._ids) % ROWS
        if row == 0:
            self._make_room()
        self._blocks[-1].rows[row] = vector
        self._ids.append(fact_id)
        self._slots.append(slot)

    def near(
        self, vectors: "NDArray[np.float32]", floor: float, *, at: LogVersion
    ) -> Sequence[Iterator[tuple[UUID, float]]]:
        found = self._looking_near(vectors, floor)
        if self._fetch and self._blocks and self._blocks[0].is_quantized:
            found = self._rescored(found, vectors, floor, self._fetch, at)
        return [
            zip(map(self._ids.__getitem__, rows.tolist()), cosines.tolist(), strict=True) for rows, cosines in found
        ]

    def _make_room(self) -> None:
        """Start a new block. All others are full; quantize them if there are many."""
        if self._fetch and len(self._ids) >= self._most_exact:
            for block in self._blocks:
                if not block.is_quantized:
                    block.quantize()
        self._blocks.append(Block(self._dim))

    def _looking_near(self, vectors: "NDArray[np.float32]", floor: float) -> "list[Found]":
        found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))]
        for number, block in enumerate(self._blocks):
            first = number * ROWS
            cosines = block.cosines(vectors, rows=min(ROWS, len(self._ids) - first))
            rows, asked = np.nonzero(cosines >= floor - block.loss)
            found.append((rows + first, asked, cosines[rows, asked]))
        rows, asked, cosines = map(np.concatenate, zip(*found, strict=True))
        return [_sorted(rows[asked == each], cosines[asked == each]) for each in range(len(vectors))]

    def _rescored(
        self, found: "list[Found]", vectors: "NDArray[np.float32]", floor: float, fetch: Fetch, at: LogVersion
    ) -> "Iterator[Found]":
        """Yield the rows that are near by their floats, among those that look near."""
        looked_at = [rows[:MOST_RESCORED] for rows, _ in found]
        wanted = np.unique(np.concatenate(looked_at))
        floats = fetch([self._slots[row] for row in wanted], at=at) if len(wanted) else vectors[:0]
        for vector, rows in zip(vectors, looked_at, strict=True):
            cosines = floats[np.searchsorted(wanted, rows)] @ vector
            is_near = cosines >= floor
            yield _sorted(rows[is_near], cosines[is_near])


def _sorted(rows: "NDArray[np.int64]", cosines: "NDArray[np.float32]") -> "Found":
    order = np.argsort(-cosines, kind="stable")
    return rows[order], cosines[order]


def checked(vectors: "NDArray[np.float32]", *, rows: int, dim: int) -> "NDArray[np.float32]":
    """Return *vectors* if they are *rows* unit vectors of *dim* numbers. Raises `BadInput`."""
    if vectors.shape != (rows, dim):
        raise BadInput(f"{rows} vectors of {dim} numbers were expected, not an array of shape {vectors.shape}")
    if not (abs(np.sqrt(np.square(vectors).sum(axis=1)) - 1) <= _ROUNDING).all():
        raise BadInput("a vector has to have length 1, and one of these has not")
    return vectors
