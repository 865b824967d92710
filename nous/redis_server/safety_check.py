"""Check the Redis server by INFO: refuse one that may lose data or that nous cannot run on."""

from collections.abc import Mapping
from typing import Any, cast

import redis
import structlog

from nous.domain.errors import Misconfigured, Unavailable
from nous.redis_server.binary import OLDEST
from nous.redis_support.errors import cannot_write, translated

Info = Mapping[str, Any]

_log = structlog.get_logger(__name__)


def refuse_unsafe(client: redis.Redis, *, allow: bool = False) -> None:
    """Refuse a server that nous cannot run on, or that may lose data unless *allow* is set.

    INFO is enough for that: managed servers deny CONFIG. Raises `Misconfigured`, with remedies, and `Unavailable`.
    """
    try:
        info = cast("Info", client.info())
    except redis.ResponseError as error:
        raise Misconfigured(f"the server refuses INFO: {error}; allow this user INFO") from error
    except redis.RedisError as error:
        raise Unavailable(f"the server does not answer: {error}") from error
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
    if tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < OLDEST:
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
