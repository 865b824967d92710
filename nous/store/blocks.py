"""Where vectors stand: side by side in blocks of 4,096, a string for each block, embedder and dimension.

A block is the unit of growth (a string never has to be moved as a whole when the log grows), and so few that a scope of
100,000 facts is read with some hundred commands.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nous.store.rows import Slot

VECTORS_PER_BLOCK = 4096
LONGEST_RUN = 1024
"""Vectors that one command carries: 1.5 MB at 384 dimensions."""
_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Place:
    """The slot of a vector, and the embedder that made it."""

    embedder: str
    slot: Slot

    @property
    def block(self) -> int:
        return self.slot.index // VECTORS_PER_BLOCK

    @property
    def offset(self) -> int:
        """Bytes from the start of the block."""
        return self.slot.index % VECTORS_PER_BLOCK * self.size

    @property
    def size(self) -> int:
        """Bytes of the vector."""
        return self.slot.dim * _FLOAT_BYTES

    def adjoins(self, other: "Place") -> bool:
        """Whether this is the next place after *other*, in the same block."""
        return (
            self.embedder == other.embedder
            and self.slot == Slot(other.slot.index + 1, other.slot.dim)
            and self.block == other.block
        )


def runs(places: Iterable[Place]) -> Iterator[list[Place]]:
    """*places* in order, cut into runs that one command can read or write. No run is empty."""
    run: list[Place] = []
    for place in places:
        if run and not (place.adjoins(run[-1]) and len(run) < LONGEST_RUN):
            yield run
            run = []
        run.append(place)
    if run:
        yield run
