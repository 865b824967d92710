"""RQ job class that runs one allow-listed function and ignores unsafe fields."""

import re
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import orjson
import redis
from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.serializers import JSONSerializer

from nous.bus.base import Priority
from nous.domain.errors import Fatal
from nous.jobs.base import Runner

LONGEST = 1 << 16
"""Bytes of a field, packed or not. Our own have some hundred; a traceback that RQ keeps has some thousand."""

_NEVER_READ = frozenset(
    {
        *(f"{when}_callback_{what}" for when in ("success", "failure", "stopped") for what in ("name", "timeout")),
        *("webhooks", "retries_left", "retry_intervals", "enqueue_at_front_on_retry", "number_of_retries"),
        *("repeats_left", "repeat_intervals", "rate_limit_key", "rate_limit_concurrency"),
    }
)
"""They name functions and addresses, or make RQ retry a job, which only our own retry policy decides."""

_SECONDS = {
    b"timeout": re.compile(rb"[1-9][0-9]{0,8}"),
    **dict.fromkeys((b"result_ttl", b"failure_ttl", b"ttl"), re.compile(rb"-1|[0-9]{1,9}")),
}
"""Where a field is missing, RQ uses its default."""

_JSON = {b"dependency_ids": list, b"meta": dict}
_SHOWN = frozenset({b"origin", b"description", b"worker_name", b"dependency_id"})


def read(fields: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the allow-listed *fields*.

    Fields that would fill the memory are left out. A call that is left out becomes empty.
    """
    kept = {name: _legible(name, value) for name, value in fields.items() if _may_be_read(name, value)}
    return {b"data": b"", **kept} if b"data" in fields else kept


def fits(value: bytes) -> bool:
    """Return whether *value* is short enough, both packed and unpacked."""
    if len(value) > LONGEST:
        return False
    try:
        return len(zlib.decompressobj().decompress(value, LONGEST + 1)) <= LONGEST
    except zlib.error:
        return True  # not compressed


def _may_be_read(name: bytes, value: bytes) -> bool:
    if name.decode(errors="replace") in _NEVER_READ or not fits(value):
        return False
    if name in _SECONDS:
        return bool(_SECONDS[name].fullmatch(value))
    return name not in _JSON or isinstance(_parsed(value), _JSON[name])


def _parsed(value: bytes) -> object:
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return None


def _legible(name: bytes, value: bytes) -> bytes:
    return value.decode(errors="replace").encode() if name in _SHOWN else value


FUNCTION = "nous.job.perform"
"""The only function a job may name. Its arguments identify the attempt and hold no content."""

_PLAIN = frozenset({b"origin", b"description"})
"""Fields without a format, which are safe to read as they are."""

_ENTRY = re.compile(r"[0-9]{1,20}-[0-9]{1,20}")

CallArguments = tuple[str, str, str, int]
"""Worker, priority, stream entry and number of the attempt."""


class ForeignJob(Fatal):
    """A job that nous did not write.

    It is not run.
    """


class AllowListedJob(Job):
    """Job that runs `nous.job.perform` and refuses every other function.

    JSON keeps pickles out, but a JSON job still names its function: `os.system` would run. Callbacks and webhooks name
    functions and addresses of their own, and RQ's retries would compete with ours. So a job is read without them.
    """

    runner: Runner | None = None
    """Set by a worker that has an application already. Without it, the function builds one."""

    def refresh(self) -> None:
        """Read the job from Redis.

        Raises:
            NoSuchJobError: there is no such job, or its key holds no hash. RQ's worker continues after this error.
        """
        try:
            super().refresh()
        except redis.ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise
            raise NoSuchJobError(f"{self.key!r} is no job") from error

    def restore(self, raw_data: Any) -> Any:
        """Load the allow-listed fields that were read from Redis (see `read`).

        A job whose fields are invalid is loaded with an empty call: it fails, and its worker continues.
        """
        fields = read(raw_data)
        try:
            return super().restore(fields)
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            kept = {name: value for name, value in fields.items() if name in _PLAIN}
            return super().restore({b"data": b"", **kept})

    def _execute(self) -> Any:
        arguments = decode_call(self.data)
        if self.runner is not None:
            return self.runner(*arguments)
        return super()._execute()


def encode_call(worker: str, priority: str, entry: str, attempt: int) -> bytes:
    """Encode a call of `nous.job.perform` as RQ saves one in a job's field `data`."""
    return zlib.compress(JSONSerializer.dumps((FUNCTION, None, (worker, priority, entry, attempt), {})))


def decode_call(data: bytes) -> CallArguments:
    """Decode the arguments for `nous.job.perform` from a job's field `data`.

    Raises:
        ForeignJob: the call names another function, or cannot be read.
    """
    if not fits(data):
        raise ForeignJob(f"the job's call has more than {LONGEST:,} bytes")
    with suppress(zlib.error):  # RQ accepts uncompressed data, too
        data = zlib.decompress(data)
    try:
        function, bound_to, arguments, named = JSONSerializer.loads(data)
        _refuse_unless_ours(function)
        worker, priority, entry, attempt = arguments
    except (ValueError, TypeError, RecursionError):
        raise ForeignJob("the job's call cannot be read") from None
    is_named = all(isinstance(word, str) for word in (worker, priority, entry)) and priority in set(Priority)
    if bound_to is not None or named or not is_named or type(attempt) is not int or not _ENTRY.fullmatch(entry):
        raise ForeignJob("the job's arguments are not a worker, a priority, an entry and an attempt")
    return worker, priority, entry, attempt


def _refuse_unless_ours(function: Any) -> None:
    if function != FUNCTION:
        raise ForeignJob(f"the job names the function {str(function)[:80]!r}; only {FUNCTION} is run")
