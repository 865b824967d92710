"""What became of the transcripts that were found on disk, so that they are not read again."""

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, Protocol
from uuid import UUID

import orjson

from nous.domain.scope import Scope


class Place(NamedTuple):
    """A folder on a host that is swept for sessions of a scope."""

    scope: Scope
    host: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a file of this size (bytes) that was last written then (nanoseconds since the epoch).

    *refused* says why it could not be handed over, *changed_ns* when anything about it had changed last, be it who may
    read it, and *release* which release of nous said so; of one that was handed over, they are None, 0 and empty.
    """

    size: int
    mtime_ns: int
    refused: str | None = None
    changed_ns: int = 0
    release: str = ""


class Watched(Protocol):
    """What was seen in each place, by the names of files (see `name_of`).

    It is no memory: without it everything is handed over again, which is recognised. Every method may be called again,
    by any number of sweeps at once, and raises `Unavailable` when the store does not answer.
    """

    def recall(self, place: Place) -> Mapping[str, Remembered]:
        """All that is remembered of *place*."""
        ...

    def remember(self, place: Place, name: str, what: Remembered, *, after: Collection[UUID] = ()) -> bool:
        """Put *what* in place of what was remembered of the file called *name*.

        False, and nothing is changed, where the server does not know all the events *after* which this is said: it has
        lost them. Whatever it loses later, it never loses one of them alone and keeps what is remembered.
        """
        ...

    def keep(self, place: Place, *, without: Collection[str] = ()) -> None:
        """Keep what is known of *place* for another while, *without* these files, which are gone."""
        ...


def _always(_: UUID) -> bool:
    return True


class WatchedInMemory:
    """`Watched` of one process; *is_published* says whether a bus knows an event."""

    def __init__(self, is_published: Callable[[UUID], bool] = _always) -> None:
        self._is_published = is_published
        self._places: dict[Place, dict[str, Remembered]] = {}

    def recall(self, place: Place) -> Mapping[str, Remembered]:
        return dict(self._places.get(place, {}))

    def remember(self, place: Place, name: str, what: Remembered, *, after: Collection[UUID] = ()) -> bool:
        if not all(map(self._is_published, after)):
            return False
        self._places.setdefault(place, {})[name] = what
        return True

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

    def remember(self, place: Place, name: str, what: Remembered, *, after: Collection[UUID] = ()) -> bool:
        """Do nothing, as if it were done."""
        del place, name, what, after
        return True

    def keep(self, place: Place, *, without: Collection[str] = ()) -> None:
        """Do nothing."""


def name_of(path: Path) -> str:
    """What a file is called here: its path cannot be read from it, since that may tell a session that was forgotten."""
    return _digest(os.fsencode(path))


def digest_of(place: Place) -> str:
    """Names *place* among those of its scope."""
    return _digest(f"{place.host}\n".encode() + os.fsencode(place.folder))


def packed(what: Remembered) -> bytes:
    # The release stands only where one has refused: who knows of none can read the others.
    by = (what.release,) if what.release else ()
    return orjson.dumps((what.size, what.mtime_ns, what.refused, what.changed_ns, *by))


def unpacked(raw: bytes) -> Remembered | None:
    """What `packed` made *raw* of; None where it is something else, which is then as good as not remembered."""
    match _parsed(raw):
        case [int(size), int(mtime_ns), (None | str()) as refused, int(changed_ns)]:
            return Remembered(size, mtime_ns, refused, changed_ns)
        case [int(size), int(mtime_ns), str(refused), int(changed_ns), str(release)]:
            return Remembered(size, mtime_ns, refused, changed_ns, release)
        case _:
            return None


def _parsed(raw: bytes) -> object:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
