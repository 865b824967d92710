"""Paths, private directories and file locks of an embedded Redis server.

<data directory>/redis/      mode 0700
  server.sock                the server's socket; socket paths are limited (to 107 bytes on Linux); in place of a
                             long one, the socket is /tmp/nous-<uid>/<hash of the path>.sock
  server.log  server.pid
  appendonlydir/             the data
  election.lock              held by the process that starts or stops the server
  alive.lock                 held by the server as long as it lives
  stopped                    the server was stopped on purpose, so only an explicit start may bring it back
"""

import fcntl
import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EACCES
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from nous.domain.errors import Misconfigured, Unavailable

LONGEST_SOCKET = 100  # bytes in the path of a socket: a little below what every Unix allows

# Not the directory that TMPDIR names: every process has to find the same path, in any environment.
_SHARED = Path("/tmp")  # noqa: S108 - the directory in it is private, and refused if it is not


@dataclass(frozen=True, slots=True, kw_only=True)
class DataDir:
    home: Path
    socket: Path
    log: Path
    pid: Path
    election: Path
    alive: Path
    stopped: Path

    @property
    def url(self) -> str:
        return f"unix://{quote(str(self.socket))}"


def locate(directory: Path) -> DataDir:
    """Return the paths for *directory*, the same for every path (symbolic link) to it."""
    home = Path(os.path.realpath(directory.expanduser())) / "redis"
    socket = home / "server.sock"
    if len(os.fsencode(socket)) > LONGEST_SOCKET:
        name = sha256(os.fsencode(home)).hexdigest()[:16]
        socket = _SHARED / f"nous-{os.getuid()}" / f"{name}.sock"
    return DataDir(
        home=home,
        socket=socket,
        log=home / "server.log",
        pid=home / "server.pid",
        election=home / "election.lock",
        alive=home / "alive.lock",
        stopped=home / "stopped",
    )


def prepare(place: DataDir) -> None:
    """Create the private directories. Raises `Misconfigured` if they are not writable or ours."""
    with disk_trouble(place):
        place.home.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for private in {place.home, place.socket.parent}:
            private.mkdir(exist_ok=True, mode=0o700)
            _make_private(private)
        if not os.access(place.home, os.W_OK | os.X_OK):
            raise PermissionError(EACCES, os.strerror(EACCES), str(place.home))


@contextmanager
def disk_trouble(place: DataDir) -> Generator[None]:
    """Raise `Misconfigured`, with directory and remedy, for an `OSError` of the block."""
    try:
        yield
    except OSError as error:
        raise Misconfigured(
            f"cannot keep data in {place.home.parent}: {error.strerror} ({error.filename or place.home}). Make it a "
            "writable directory with free space, or name another one with data_dir or NOUS_DATA_DIR"
        ) from error


def _make_private(directory: Path) -> None:
    """Remove other users' access to *directory*, as a mounted volume may have granted."""
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise Misconfigured(
            f"{directory} has to be a directory of this user, since who can open the server's socket can read "
            "everything; remove it, or run as its owner"
        )
    if found.st_mode & 0o077:
        directory.chmod(0o700)


_POLL_INTERVAL = 0.02  # seconds between two tries: `flock` has no timeout, it blocks for ever or does not block


@contextmanager
def held(path: Path, *, within: float) -> Generator[int]:
    """Hold a lock on *path*; children inherit it. Raises `Unavailable` after *within* seconds."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    until = time.monotonic() + within
    try:
        while not _taken(descriptor, fcntl.LOCK_EX):
            if time.monotonic() > until:
                raise Unavailable(f"{path} is still locked by another process; look what holds it with `fuser {path}`")
            time.sleep(_POLL_INTERVAL)
        yield descriptor
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Return whether any process holds the lock on *path*."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _taken(descriptor, fcntl.LOCK_SH)  # shared, so that two concurrent checks do not see each other
    finally:
        os.close(descriptor)


def _taken(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
