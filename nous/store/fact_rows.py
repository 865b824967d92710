"""Encode and decode the fact log in Redis: hash-chained rows, blocks of vectors. No I/O.

A row is stored as `<chain> <kind> <slot> <JSON>`. The chain is a hash of the previous chain and of the rest of the
entry, so it covers the whole log up to that row. A reader that knows the chain of one entry can check whether a log
still continues what it has read.

A block is the unit of growth: a log that grows never moves the vectors of its full blocks. A read takes one command
for each run of vectors, so a scope of 100,000 facts is read with some hundred commands.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Self

from nous.domain.errors import Misconfigured
from nous.domain.fact import Confirmed, Embedded, Learned, Linked, LogVersion, Row, Superseded, embedding
from nous.domain.record_codec import decode, encode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nous.domain.effects import AppendFacts

_CHAIN_BYTES = 16
_NO_SLOT = "-"
ROW_KINDS: dict[str, type[Row]] = {
    "learned": Learned,
    "confirmed": Confirmed,
    "superseded": Superseded,
    "linked": Linked,
    "embedded": Embedded,
}
_NAMES = {kind: name for name, kind in ROW_KINDS.items()}


@dataclass(frozen=True, slots=True)
class Slot:
    """Position of a vector in its scope, and its dimension *dim*. Written `17x384`."""

    index: int
    dim: int

    def __str__(self) -> str:
        return f"{self.index}x{self.dim}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        if text == _NO_SLOT:
            return None
        index, _, dim = text.partition("x")
        return cls(int(index), int(dim))


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A row with its chain, which covers the row and every entry before it."""

    chain: str
    kind: str
    slot: Slot | None
    json: bytes

    @classmethod
    def after(cls, chain: str, row: Row, slot: Slot | None) -> Self:
        kind, json = _NAMES[type(row)], encode(row)
        rest = _rest(kind, slot, json)
        return cls(blake2b(chain.encode() + b" " + rest, digest_size=_CHAIN_BYTES).hexdigest(), kind, slot, json)

    @classmethod
    def decode(cls, raw: bytes) -> Self:
        """Decode what `encode` wrote. Raises `Misconfigured` if it is something else."""
        try:
            chain, kind, slot, json = raw.split(b" ", 3)
            return cls(chain.decode(), kind.decode(), Slot.parse(slot.decode()), json)
        except ValueError:
            raise Misconfigured("the fact log holds an entry that is not one of its rows") from None

    def encode(self) -> bytes:
        return self.chain.encode() + b" " + _rest(self.kind, self.slot, self.json)

    @property
    def row(self) -> Row:
        """The row, decoded on each access. Raises `Misconfigured` for one of a newer release."""
        if self.kind not in ROW_KINDS:
            raise Misconfigured(f"the fact log holds a row of the kind {self.kind!r}: it needs a newer release")
        return decode(ROW_KINDS[self.kind], self.json)


def _rest(kind: str, slot: Slot | None, json: bytes) -> bytes:
    return b" ".join((kind.encode(), str(slot or _NO_SLOT).encode(), json))


def chained(rows: Sequence[tuple[Row, Slot | None]], after: LogVersion) -> tuple[tuple[LogEntry, ...], LogVersion]:
    """Return *rows* as entries that continue the log at *after*, and the version they lead to."""
    entries: list[LogEntry] = []
    chain, vectors = after.chain, after.vectors
    for row, slot in rows:
        entry = LogEntry.after(chain, row, slot)
        entries.append(entry)
        chain, vectors = entry.chain, vectors + (slot is not None)
    return tuple(entries), LogVersion(after.n + len(entries), chain, after.epoch, vectors)


VECTORS_PER_BLOCK = 4096
LONGEST_RUN = 1024  # vectors that one command carries: 1.5 MB at 384 dimensions
_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class VectorSlot:
    embedder: str
    slot: Slot

    @property
    def block(self) -> int:
        return self.slot.index // VECTORS_PER_BLOCK

    @property
    def offset(self) -> int:
        return self.slot.index % VECTORS_PER_BLOCK * self.size

    @property
    def size(self) -> int:
        return self.slot.dim * _FLOAT_BYTES

    @property
    def next(self) -> "VectorSlot":
        return VectorSlot(self.embedder, Slot(self.slot.index + 1, self.slot.dim))


def runs(places: Iterable[VectorSlot]) -> Iterator[list[VectorSlot]]:
    """Split *places*, in order, into runs of adjacent slots, each at most `LONGEST_RUN` long."""
    run: list[VectorSlot] = []
    for place in places:
        is_adjacent = bool(run) and place == run[-1].next and place.block == run[-1].block
        if run and not (is_adjacent and len(run) < LONGEST_RUN):
            yield run
            run = []
        run.append(place)
    if run:
        yield run


@dataclass(frozen=True, slots=True)
class Continuation:
    """New entries of a log, the version they lead to, and their vectors as bytes by slot."""

    entries: tuple[LogEntry, ...]
    version: LogVersion
    vectors: tuple[tuple[VectorSlot, bytes], ...]


def continuation(write: "AppendFacts") -> Continuation:
    """Compute what *write* appends; its vectors are as `nous.knowledge.learn` returns them."""
    rows: list[tuple[Row, Slot | None]] = []
    vectors: list[tuple[VectorSlot, bytes]] = []
    for row in write.rows:
        embedded = embedding(row)
        if embedded is None:
            rows.append((row, None))
            continue
        fact_id, embedder = embedded
        vector = write.vectors[fact_id]
        slot = Slot(write.expected.vectors + len(vectors), len(vector))
        rows.append((row, slot))
        vectors.append((VectorSlot(embedder, slot), vector.astype("<f4").tobytes()))
    entries, version = chained(rows, write.expected)
    return Continuation(entries, version, tuple(vectors))


def version_at(entries: Sequence[LogEntry], head: LogVersion, *, after: LogVersion | None) -> LogVersion:
    """Return the version of the log after *entries*, which follow *after*; *head* is it now."""
    before = after or LogVersion()
    if before.n + len(entries) == head.n:
        return head
    chain = entries[-1].chain if entries else before.chain
    vectors = before.vectors + sum(entry.slot is not None for entry in entries)
    return LogVersion(before.n + len(entries), chain, head.epoch, vectors)


def vector_of(raw: bytes, place: VectorSlot) -> "NDArray[np.float32]":
    import numpy as np  # noqa: PLC0415 (only vectors need it)

    if len(raw) != place.size:
        raise Misconfigured(
            f"vector {place.slot.index} of {place.embedder} has {len(raw)} bytes in the store; "
            f"its row says {place.slot.dim} numbers of 4 bytes"
        )
    return np.frombuffer(raw, dtype="<f4").astype(np.float32, copy=False)
