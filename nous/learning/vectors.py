"""The vectors of a scope's facts, in this process: which of them are near, found by looking at each.

Up to `MOST_EXACT` they are kept as they are. Beyond, a number takes one byte instead of four, so that a million facts
take .4 GB instead of 1.5; what looks near then is scored again by its own floats. Those are fetched from the log, where
they stand anyway: in this process they would take the room that was to be saved, and a file would be a second copy.
"""

import math
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol
from uuid import UUID

import numpy as np

from nous.errors import BadInput
from nous.fact import LogVersion
from nous.learning.blocks import ROWS, Block, Exact, Packed

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_EXACT = 200_000
"""Rows beyond which blocks are packed: .3 GB at 384 numbers."""

MOST_RESCORED = 1000
"""Rows whose floats are fetched for one vector, the nearest: 1.5 MB at 384 numbers."""

_ROUNDING = 1e-3


class Fetch(Protocol):
    """Where the floats of packed rows are to be had."""

    def __call__(self, slots: Sequence[int], *, at: LogVersion) -> "NDArray[np.float32]":
        """The vectors that stand in these slots of the log at that version, a row for each."""
        ...


class _Found(NamedTuple):
    """Rows that are near, and how near; nearest first."""

    rows: "NDArray[np.int64]"
    cosines: "NDArray[np.float32]"


class Vectors:
    """`CandidateIndex` by exact search: a row for each fact, in the order they were added.

    With *fetch* rows beyond *most_exact* are packed, and each has to come with its slot in the log.
    """

    def __init__(self, dim: int, *, fetch: Fetch | None = None, most_exact: int = MOST_EXACT) -> None:
        self._dim = dim
        self._fetch = fetch
        self._most_exact = most_exact
        self._ids: list[UUID] = []
        self._slots = array("q")
        self._packed: list[Block] = []
        self._exact: list[Exact] = []

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, fact_id: UUID, vector: "NDArray[np.float32]", *, slot: int | None = None) -> None:
        """Add a row.

        Raises:
            BadInput: it is not a vector of this dimension and of length 1.
        """
        _check(vector, self._dim)
        row = len(self._ids) % ROWS
        if row == 0:
            self._make_room()
        self._exact[-1].rows[row] = vector
        self._ids.append(fact_id)
        if self._fetch:
            if slot is None:
                raise ValueError(f"where fact {fact_id} stands in the log has to be known, to score it again")
            self._slots.append(slot)

    def near(
        self, vectors: "NDArray[np.float32]", floor: float, *, at: LogVersion
    ) -> Sequence[Iterator[tuple[UUID, float]]]:
        if self._packed and self._fetch:
            found = self._rescored(self._looking_near(vectors, floor), vectors, floor, self._fetch, at)
        else:
            found = self._looking_near(vectors, floor)
        return [
            zip(map(self._ids.__getitem__, rows.tolist()), cosines.tolist(), strict=True) for rows, cosines in found
        ]

    def _make_room(self) -> None:
        """Begin a block. All others are full, and packed if they are many."""
        if self._fetch and len(self._ids) >= self._most_exact:
            while self._exact:
                self._packed.append(Packed(self._exact.pop(0)))
        self._exact.append(Exact(self._dim))

    def _looking_near(self, vectors: "NDArray[np.float32]", floor: float) -> list[_Found]:
        found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]] = []
        for number, block in enumerate((*self._packed, *self._exact)):
            first = number * ROWS
            cosines = block.cosines(vectors, rows=min(ROWS, len(self._ids) - first))
            rows, asked = np.nonzero(cosines >= floor - block.loss)
            found.append((rows + first, asked, cosines[rows, asked]))
        if not found:
            return [_Found(np.empty(0, np.int64), np.empty(0, np.float32)) for _ in vectors]
        rows, asked, cosines = map(np.concatenate, zip(*found, strict=True))
        return [_sorted(rows[asked == each], cosines[asked == each]) for each in range(len(vectors))]

    def _rescored(
        self, found: list[_Found], vectors: "NDArray[np.float32]", floor: float, fetch: Fetch, at: LogVersion
    ) -> Iterator[_Found]:
        """What is near in truth of what looks near."""
        looked_at = [each.rows[:MOST_RESCORED] for each in found]
        wanted = np.unique(np.concatenate(looked_at))
        floats = fetch([self._slots[row] for row in wanted], at=at) if len(wanted) else None
        for vector, rows in zip(vectors, looked_at, strict=True):
            cosines = floats[np.searchsorted(wanted, rows)] @ vector if floats is not None else np.empty(0, np.float32)
            is_near = cosines >= floor
            yield _sorted(rows[is_near], cosines[is_near])


def _sorted(rows: "NDArray[np.int64]", cosines: "NDArray[np.float32]") -> _Found:
    order = np.argsort(-cosines, kind="stable")
    return _Found(rows[order], cosines[order])


def stacked(vectors: "Sequence[NDArray[np.float32]]") -> "NDArray[np.float32]":
    """One or more *vectors* as rows."""
    return np.stack(vectors).astype(np.float32, copy=False)


def checked(vectors: "NDArray[np.float32]", *, rows: int, dim: int) -> "NDArray[np.float32]":
    """*vectors* as they are, if they are *rows* unit vectors of *dim* numbers.

    Raises:
        BadInput: they are not. A zero vector is near everything or nothing, so it is never scored.
    """
    if vectors.shape != (rows, dim):
        raise BadInput(f"{rows} vectors of {dim} numbers were expected, not an array of shape {vectors.shape}")
    for vector in vectors:
        _check(vector, dim)
    return vectors


def _check(vector: "NDArray[np.float32]", dim: int) -> None:
    if vector.shape != (dim,):
        raise BadInput(f"a vector of {dim} numbers was expected, not an array of shape {vector.shape}")
    if not abs(math.sqrt(vector @ vector) - 1) <= _ROUNDING:
        raise BadInput("a vector has to have length 1, and one of these has not")
