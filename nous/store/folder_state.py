"""Records of processed files in watched folders: interface and codec."""

import os
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

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
