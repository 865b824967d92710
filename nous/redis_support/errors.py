"""Translate redis-py exceptions into the errors of `nous.domain.errors`."""

import re
from collections.abc import Generator
from contextlib import contextmanager

import redis
from redis import exceptions

from nous.domain.errors import Fatal, InTheWay, Misconfigured, NotAllowed, Retryable, Unavailable

_IN_A_PIPELINE = re.compile(r"Command # \d+ \(.*\) of pipeline caused error: ", re.DOTALL)
_IN_A_SCRIPT = re.compile(r",? script:(?: [^\s,]+,)? on @\w+:\d+\.?\Z")

_REMEDY = "allow this user that (deploy/acl has what each role needs; on the server, ACL LOG tells what was refused)"


class GroupGone(Unavailable):
    """A stream or its group has disappeared (FLUSHDB, a lost disk); the next call creates it."""


def cannot_write(error: redis.RedisError) -> bool:
    """Return whether the server cannot write to its disk; PING fails then, and reads do not."""
    return "MISCONF" in str(error)


_PASSING = (
    ("NOREPLICAS ", "Redis cannot do its part at the moment: it misses its replicas"),
    ("UNBLOCKED ", "Redis cannot do its part at the moment: it has become a replica"),
    ("BUSY ", "Redis is busy with a script of another client and answers no command"),
    ("killed by user", "the script was stopped on the server (SCRIPT KILL)"),
)
"""Parts of the replies of a server that may do it later, and what each means."""


def reason_of(error: redis.RedisError) -> str:
    return _IN_A_SCRIPT.sub("", _IN_A_PIPELINE.sub("", str(error)))


def is_not_allowed(error: redis.RedisError) -> bool:
    """Return whether the server's ACL forbids the command, also from within a script."""
    return isinstance(error, exceptions.NoPermissionError) or "ACL failure in script" in str(error)


def not_allowed(error: redis.RedisError) -> NotAllowed:
    reason = reason_of(error).replace("ACL failure in script: ", "")
    return NotAllowed(f"Redis does not allow it: {reason[:1].lower()}{reason[1:]}; {_REMEDY}")


@contextmanager
def translated() -> Generator[None]:
    """Translate redis-py exceptions in the block into errors that say what the caller can do."""
    try:
        yield
    except exceptions.NoPermissionError as error:
        raise not_allowed(error) from error
    except redis.AuthenticationError as error:
        raise Misconfigured(f"Redis refused us: {reason_of(error)}") from error
    except (redis.ConnectionError, redis.TimeoutError, exceptions.BusyLoadingError) as error:
        raise Unavailable(f"Redis did not answer: {error}") from error
    except exceptions.OutOfMemoryError as error:
        raise Retryable("Redis is full (maxmemory): nothing was written; give it memory") from error
    except exceptions.NoScriptError as error:
        # redis-py loads a missing script and calls it again. It was lost in between: by a restart or SCRIPT FLUSH.
        raise Unavailable("Redis has lost a script that it was just given") from error
    except (exceptions.ReadOnlyError, exceptions.ClusterDownError, exceptions.TryAgainError) as error:
        raise Unavailable(f"Redis cannot do its part at the moment: {reason_of(error)}") from error
    except redis.ResponseError as error:
        if is_not_allowed(error):
            raise not_allowed(error) from error
        if "NOGROUP" in str(error):
            raise GroupGone(reason_of(error)) from error
        for sign, meaning in _PASSING:
            if sign in reason_of(error):
                raise Unavailable(meaning) from error
        if cannot_write(error):
            reason = reason_of(error).removeprefix("MISCONF ").rstrip(".")
            raise Unavailable(
                f"Redis cannot write to its disk: {reason}; it takes no change until there is room: make some there"
            ) from error
        kind = InTheWay if "WRONGTYPE" in str(error) else Fatal
        raise kind(f"Redis refused the command: {reason_of(error)}") from error
