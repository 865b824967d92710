"""What became of the transcripts that were found on disk, so that they are not read again."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, Protocol

import orjson

from nous.scope import Scope


class Place(NamedTuple):
    """A folder on a host that is swept for sessions of a scope."""

    scope: Scope
    host: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a file of this size (bytes) that was last written then (nanoseconds since the epoch).

    *refused* says why it could not be handed over, and *changed_ns* when anything about it had changed last, be it who
    may read it; of one that was handed over, they are None and 0.
    """

    size: int
    mtime_ns: int
    refused: str | None = None
    changed_ns: int = 0


class Watched(Protocol):
    """What was seen in each place, by the names of files (see `name_of`).

    It is no memory: without it everything is handed over again, which is recognised. Every method may be called again,
    by any number of sweeps at once, and raises `Unavailable` when the store does not answer.
    """

    def recall(self, place: Place) -> Mapping[str, Remembered]:
        """All that is remembered of *place*."""
        ...

    def remember(self, place: Place, name: str, what: Remembered) -> None:
        """Put *what* in place of what was remembered of the file called *name*."""
        ...

    def keep(self, place: Place, *, without: Collection[str] = ()) -> None:
        """Keep what is known of *place* for another while, *without* these files, which are gone."""
        ...


class WatchedInMemory:
    """`Watched` of one process."""

    def __init__(self) -> None:
        self._places: dict[Place, dict[str, Remembered]] = {}

    def recall(self, place: Place) -> Mapping[str, Remembered]:
        return dict(self._places.get(place, {}))

    def remember(self, place: Place, name: str, what: Remembered) -> None:
        self._places.setdefault(place, {})[name] = what

    def keep(self, place: Place, *, without: Collection[str] = ()) -> None:
        known = self._places.get(place, {})
        for name in without:
            known.pop(name, None)


class Untouched:
    """`Watched` of those who only look: it tells what another one remembers, and takes nothing."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched

    def recall(self, place: Place) -> Mapping[str, Remembered]:
        return self._watched.recall(place)

    def remember(self, place: Place, name: str, what: Remembered) -> None:
        """Do nothing."""

    def keep(self, place: Place, *, without: Collection[str] = ()) -> None:
        """Do nothing."""


def name_of(path: Path) -> str:
    """What a file is called here: its path cannot be read from it, since that may tell a session that was forgotten."""
    return _digest(os.fsencode(path))


def digest_of(place: Place) -> str:
    """Names *place* among those of its scope."""
    return _digest(f"{place.host}\n".encode() + os.fsencode(place.folder))


def packed(what: Remembered) -> bytes:
    return orjson.dumps((what.size, what.mtime_ns, what.refused, what.changed_ns))


def unpacked(raw: bytes) -> Remembered | None:
    """What `packed` made *raw* of; None where it is something else, which is then as good as not remembered."""
    match _parsed(raw):
        case [int(size), int(mtime_ns), (None | str()) as refused, int(changed_ns)]:
            return Remembered(size, mtime_ns, refused, changed_ns)
        case _:
            return None


def _parsed(raw: bytes) -> object:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
