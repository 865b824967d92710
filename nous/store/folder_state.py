"""Records of processed files in watched folders: interface and codec."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, Protocol
from uuid import UUID

import orjson

from nous.domain.scope import Scope


class WatchedFolder(NamedTuple):
    """A folder on a host that is swept for sessions of a scope."""

    scope: Scope
    host: str
    folder: Path


@dataclass(frozen=True, slots=True)
class FileRecord:
    """Outcome of the last processing of a file: published or refused.

    *size* is in bytes, *mtime_ns* in nanoseconds since the epoch.
    """

    size: int
    mtime_ns: int
    refused: bool = False


class FolderState(Protocol):
    """Records of processed files, by folder and hashed file name (see `name_of`).

    This is a cache: without it every file is published again and deduplicated. Every method is idempotent, safe to call
    from concurrent sweeps, and raises `Unavailable` if the store does not answer.
    """

    def recall(self, place: WatchedFolder) -> Mapping[str, FileRecord]:
        """Return all records of the folder *place*."""
        ...

    def remember(self, place: WatchedFolder, name: str, what: FileRecord, *, after: Collection[UUID] = ()) -> bool:
        """Replace the record of the file *name* by *what*.

        Returns False and changes nothing if the server does not know every event in *after*: it has lost them. If the
        server loses one of these events later, it loses the record as well.
        """
        ...

    def keep(self, place: WatchedFolder, *, without: Collection[str] = ()) -> None:
        """Extend the lifetime of the records of *place*, and delete those of the files *without*."""
        ...


def name_of(path: Path) -> str:
    """Return the hash that stands for *path*, which may name a session that is erased later."""
    return _digest(os.fsencode(path))


def digest_of(place: WatchedFolder) -> str:
    """Return a hash that identifies *place* within its scope."""
    return _digest(f"{place.host}\n".encode() + os.fsencode(place.folder))


def packed(what: FileRecord) -> bytes:
    return orjson.dumps((what.size, what.mtime_ns, what.refused))


def unpacked(raw: bytes) -> FileRecord | None:
    """Decode what `packed` wrote; None for anything else, which then counts as not recorded."""
    try:
        size, mtime_ns, refused, *_ = orjson.loads(raw)  # earlier releases wrote more fields
    except (ValueError, TypeError):
        return None
    return FileRecord(size, mtime_ns, bool(refused))


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
