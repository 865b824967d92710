"""A row of the fact log as it stands in the store: `<chain> <kind> <slot> <JSON>`.

The chain is a hash of everything up to here: of the chain before, and of the rest of the entry. Whoever knows the chain
of one entry can tell whether a log still continues what was read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

from nous.errors import Misconfigured
from nous.fact import Confirmed, Embedded, Learned, Linked, LogVersion, Row, Superseded
from nous.store.records import decode, encode

_CHAIN_BYTES = 16
_NO_SLOT = "-"
_KINDS: dict[str, type[Row]] = {
    "learned": Learned,
    "confirmed": Confirmed,
    "superseded": Superseded,
    "linked": Linked,
    "embedded": Embedded,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a row's vector stands: it is the *index*-th of its scope, and has *dim* numbers. Written `17x384`."""

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
    """A row in its place: after the entry whose chain went into its own."""

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
        """Read what `encode` wrote.

        Raises:
            Misconfigured: it is something else.
        """
        try:
            chain, kind, slot, json = raw.split(b" ", 3)
            return cls(chain.decode(), kind.decode(), Slot.parse(slot.decode()), json)
        except ValueError:
            raise Misconfigured("the fact log holds an entry that is not one of its rows") from None

    def encode(self) -> bytes:
        return self.chain.encode() + b" " + _rest(self.kind, self.slot, self.json)

    @property
    def row(self) -> Row:
        """The row itself, decoded anew at each access.

        Raises:
            Misconfigured: it is of a kind, or in a form, that this release does not know.
        """
        if self.kind not in _KINDS:
            raise Misconfigured(f"the fact log holds a row of the kind {self.kind!r}: it needs a newer release")
        return decode(_KINDS[self.kind], self.json)


def _rest(kind: str, slot: Slot | None, json: bytes) -> bytes:
    return b" ".join((kind.encode(), str(slot or _NO_SLOT).encode(), json))


def chained(rows: Sequence[tuple[Row, Slot | None]], after: LogVersion) -> tuple[tuple[LogEntry, ...], LogVersion]:
    """*rows* as entries that continue the log at *after*, and the version which the log has then."""
    entries: list[LogEntry] = []
    chain, vectors = after.chain, after.vectors
    for row, slot in rows:
        entry = LogEntry.after(chain, row, slot)
        entries.append(entry)
        chain, vectors = entry.chain, vectors + (slot is not None)
    return tuple(entries), LogVersion(after.n + len(entries), chain, after.epoch, vectors)
