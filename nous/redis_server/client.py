"""Build Redis clients from the settings, and check the server; start an embedded one.

redis-py silently repeats a command whose reply was lost. So every command sent through `connect` has to be idempotent.
RQ's commands are not, and RQ changes the timeouts of the pool it gets, so it has a client of its own. A server that may
lose data, or that nous cannot run on, is refused by its INFO.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import redis
import structlog
from redis.backoff import ExponentialWithJitterBackoff
from redis.connection import UnixDomainSocketConnection
from redis.retry import Retry
from typing_extensions import override

from nous.domain.errors import Misconfigured, NousError, Unavailable
from nous.redis_server import embedded
from nous.redis_server.data_dir import locate
from nous.redis_support.errors import cannot_write, is_not_allowed, not_allowed, translated
from nous.settings.model import EMBEDDED, Settings

SOCKET_TIMEOUT = 15.0  # seconds to wait for a reply. Blocking commands have to block for less
MAX_CONNECTIONS = 32  # connections of one client. A caller that finds none free waits up to SOCKET_TIMEOUT for one
RETRIES = 3

_CREDENTIALS = re.compile(r"(?<=://)([^:@/]*):.*@")
_PASSWORD = re.compile(r"(?<=password=)[^&]*")


def resolve(settings: Settings) -> str:
    """Return the URL; start an embedded server. Raises `Misconfigured` and `Unavailable`."""
    directory = embedded_directory(settings)
    return embedded.ensure(directory) if directory else settings.redis_url


def address(settings: Settings) -> str:
    """Return the URL of the configured server, like `resolve`, but start nothing."""
    directory = embedded_directory(settings)
    return locate(directory).url if directory else settings.redis_url


def embedded_directory(settings: Settings) -> Path | None:
    """Return the data directory of the embedded server; None if the server is external."""
    if not settings.redis_url.startswith(EMBEDDED):
        return None
    named = settings.redis_url.removeprefix(EMBEDDED)
    return Path(named).expanduser() if named else settings.data_dir


def connect(settings: Settings) -> redis.Redis:
    """Return a client for idempotent commands. Replies are bytes. The client is thread-safe.

    If an embedded server dies, the first client that notices starts it again, unless it was stopped on purpose. One
    that cannot write (full disk) can still be read. Raises `Unavailable` if the server does not answer, and
    `Misconfigured` if it refuses these credentials, the URL is wrong, or an embedded server cannot be started.
    """
    return _reached(_client(settings, retries=RETRIES), settings)


def connect_rq(settings: Settings) -> redis.Redis:
    """Return a client for RQ alone, which never repeats a command. Raises as `connect`."""
    return _reached(_client(settings, retries=0), settings)


def masked(url: str) -> str:
    return _PASSWORD.sub("***", _CREDENTIALS.sub(r"\1:***@", url))


class EmbeddedConnection(UnixDomainSocketConnection):
    """Connection that restarts its embedded server if that has died."""

    def __init__(self, *, directory: str, **options: Any) -> None:
        super().__init__(**options)
        self._directory = Path(directory)

    @override
    def _connect(self) -> Any:
        try:
            return super()._connect()
        except (ConnectionRefusedError, FileNotFoundError):
            try:
                embedded.revive(self._directory)
            except NousError as error:  # users of the connection, such as RQ, handle the errors of redis-py only
                raise redis.ConnectionError(str(error)) from error
            return super()._connect()


def _client(settings: Settings, *, retries: int) -> redis.Redis:
    url = resolve(settings)
    options: dict[str, Any] = {
        "protocol": 2,
        "decode_responses": False,
        "client_name": settings.prefix,
        "socket_timeout": SOCKET_TIMEOUT,
        "socket_connect_timeout": SOCKET_TIMEOUT,
        # No health check: a lost connection is noticed by its next command as well, and a server whose disk is full
        # refuses PING, though it can be read.
        "health_check_interval": 0,
        "retry": Retry(ExponentialWithJitterBackoff(base=0.05, cap=1.0), retries=retries),
        "max_connections": MAX_CONNECTIONS,
        "timeout": SOCKET_TIMEOUT,
    }
    directory = embedded_directory(settings)
    if directory:
        options |= {"connection_class": EmbeddedConnection, "directory": str(directory.resolve())}
    elif not url.startswith("unix:"):
        options["socket_keepalive"] = True
    try:
        return redis.Redis(connection_pool=redis.BlockingConnectionPool.from_url(url, **options))
    except ValueError as error:
        raise Misconfigured(f"redis_url {masked(url)} cannot be used: {error}") from None


def _reached(client: redis.Redis, settings: Settings) -> redis.Redis:
    url = masked(address(settings))
    try:
        client.ping()
    except (redis.AuthenticationError, redis.ResponseError) as error:
        if cannot_write(error):
            return client  # readers can use it, and writers get an error that says what is wrong
        if is_not_allowed(error):
            raise not_allowed(error) from None
        raise Misconfigured(
            f"the server at {url} refuses: {error}; correct the user and password in redis_url"
        ) from None
    except redis.RedisError as error:
        raise Unavailable(
            f"no server answers at {url} ({error}); start it, or correct redis_url (NOUS_REDIS_URL)"
        ) from None
    return client


Info = Mapping[str, Any]

_log = structlog.get_logger(__name__)


def refuse_unsafe(client: redis.Redis, *, allow: bool = False) -> None:
    """Refuse a server that nous cannot run on, or that may lose data unless *allow* is set.

    INFO is enough for that: managed servers deny CONFIG. Raises `Misconfigured`, with remedies, and `Unavailable`.
    """
    with translated():
        info = cast("Info", client.info())
    dangers = _unsafe(info)
    refused = _unworkable(info)
    if dangers and not allow:
        refused += (*dangers, "if it is safe by other means, set allow_unsafe_redis = true")
    if refused:
        raise Misconfigured("this server is refused: " + "; ".join(refused))
    for danger in dangers:
        _log.warning("redis_server.unsafe_allowed", reason=danger)


def write_trouble(client: redis.Redis) -> str | None:
    """Return why the server refuses writes at the moment, if it does. Raises `Unavailable`."""
    with translated():
        try:
            client.ping()
        except redis.ResponseError as error:
            if cannot_write(error):
                return str(error)
            raise
    return None


def _unworkable(info: Info) -> tuple[str, ...]:
    problems: list[str] = []
    version = str(info.get("redis_version", "0.0"))
    if tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < embedded.OLDEST:
        problems.append(f"it is version {version}, and 7.0 is the oldest that has what is needed")
    mode = info.get("redis_mode") or info.get("server_mode") or "standalone"
    if mode != "standalone":
        problems.append(f"it runs in {mode} mode, and one script has to reach all keys: use a single primary")
    if info.get("role", "master") != "master":
        problems.append("it is a replica, which cannot be written: use its primary")
    return tuple(problems)


def _unsafe(info: Info) -> tuple[str, ...]:
    problems: list[str] = []
    policy = info.get("maxmemory_policy", "unknown")
    if policy != "noeviction":
        problems.append(f"maxmemory-policy is {policy}: `CONFIG SET maxmemory-policy noeviction`, and in its file")
    if info.get("aof_enabled") != 1:
        problems.append("it has no append-only file: `CONFIG SET appendonly yes`, and in its file")
    return tuple(problems)
