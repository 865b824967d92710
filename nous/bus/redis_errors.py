"""Where redis-py's exceptions become ours."""

from collections.abc import Generator
from contextlib import contextmanager

import redis
from redis import exceptions

from nous.errors import Fatal, Misconfigured, Retryable, Unavailable


class GroupGone(Unavailable):
    """A stream or its consumer group has disappeared (FLUSHDB, a lost disk); it is made anew at the next call."""


def cannot_write(error: redis.RedisError) -> bool:
    """Whether the server says that its disk takes nothing. It refuses PING with it as well, but can be read."""
    return "MISCONF" in str(error)


@contextmanager
def translated() -> Generator[None]:
    """Let what redis-py raises in the block say what the caller can do about it."""
    try:
        yield
    except (redis.AuthenticationError, exceptions.NoPermissionError) as error:
        raise Misconfigured(f"Redis refused us: {error}") from error
    except (redis.ConnectionError, redis.TimeoutError, exceptions.BusyLoadingError) as error:
        raise Unavailable(f"Redis did not answer: {error}") from error
    except exceptions.OutOfMemoryError as error:
        raise Retryable("Redis is full (maxmemory): nothing was written; give it memory") from error
    except exceptions.ReadOnlyError as error:
        raise Unavailable("Redis is a read-only replica at the moment") from error
    except redis.ResponseError as error:
        if "NOGROUP" in str(error):
            raise GroupGone(str(error)) from error
        if cannot_write(error):
            raise Unavailable(f"Redis cannot write to its disk: {error}") from error
        raise Fatal(f"Redis refused the command: {error}") from error
