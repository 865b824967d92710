"""Where redis-py's exceptions become ours."""

import re
from collections.abc import Generator
from contextlib import contextmanager

import redis
from redis import exceptions

from nous.domain.errors import Fatal, InTheWay, Misconfigured, NotAllowed, Retryable, Unavailable

_IN_A_PIPELINE = re.compile(r"Command # \d+ \(.*\) of pipeline caused error: ", re.DOTALL)
_IN_A_SCRIPT = re.compile(r",? script:(?: [^\s,]+,)? on @\w+:\d+\.?\Z")

_PASSING = ("NOREPLICAS ", "UNBLOCKED ")
"""How the answers begin of a server that misses its replicas, or has just become one."""

_REMEDY = "allow this user that (deploy/acl has what each role needs; on the server, ACL LOG tells what was refused)"


class GroupGone(Unavailable):
    """A stream or its consumer group has disappeared (FLUSHDB, a lost disk); it is made anew at the next call."""


def cannot_write(error: redis.RedisError) -> bool:
    """Whether the server says that its disk takes nothing. It refuses PING with it as well, but can be read."""
    return "MISCONF" in str(error)


def is_busy(error: redis.RedisError) -> bool:
    """Whether the server says that a script has been running for long, and that it does nothing else meanwhile."""
    return reason_of(error).startswith("BUSY ")


def reason_of(error: redis.RedisError) -> str:
    """What the server itself says is wrong: neither the command, which may hold content, nor where in a script."""
    return _IN_A_SCRIPT.sub("", _IN_A_PIPELINE.sub("", str(error)))


def is_not_allowed(error: redis.RedisError) -> bool:
    """Whether the server says that its access list does not let this user do it, be it from within a script."""
    return isinstance(error, exceptions.NoPermissionError) or "ACL failure in script" in str(error)


def not_allowed(error: redis.RedisError) -> NotAllowed:
    """What the server's access list refuses, in its own words, and what to do about it."""
    reason = reason_of(error).replace("ACL failure in script: ", "")
    return NotAllowed(f"Redis does not allow it: {reason[:1].lower()}{reason[1:]}; {_REMEDY}")


@contextmanager
def translated() -> Generator[None]:
    """Let what redis-py raises in the block say what the caller can do about it."""
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
        # redis-py sends a script that is missing, and asks again: it was lost in between, to a restart or SCRIPT FLUSH.
        raise Unavailable("Redis has lost a script that it was just given") from error
    except exceptions.ReadOnlyError as error:
        raise Unavailable("Redis is a read-only replica at the moment") from error
    except (exceptions.ClusterDownError, exceptions.TryAgainError) as error:
        raise Unavailable(f"Redis is cut off from the others of its kind at the moment: {reason_of(error)}") from error
    except redis.ResponseError as error:
        if is_not_allowed(error):
            raise not_allowed(error) from error
        if "NOGROUP" in str(error):
            raise GroupGone(reason_of(error)) from error
        if reason_of(error).startswith(_PASSING):
            raise Unavailable(f"Redis cannot do its part at the moment: {reason_of(error)}") from error
        if "killed by user" in reason_of(error):
            raise Unavailable("somebody has ended our script on the server (SCRIPT KILL)") from error
        if is_busy(error):
            raise Unavailable("Redis is busy with a script of somebody, and answers nobody else") from error
        if cannot_write(error):
            reason = reason_of(error).removeprefix("MISCONF ").rstrip(".")
            raise Unavailable(
                f"Redis cannot write to its disk: {reason}; it takes no change until there is room: make some there"
            ) from error
        kind = InTheWay if "WRONGTYPE" in str(error) else Fatal
        raise kind(f"Redis refused the command: {reason_of(error)}") from error
