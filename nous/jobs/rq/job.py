"""The RQ job that nous runs: named functions only, and nothing else that a queue could smuggle in."""

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

from nous.bus.base import Lane
from nous.domain.errors import Fatal
from nous.jobs.base import Runner

LONGEST = 1 << 16
"""Bytes of a field, packed or not. What we write has some hundred; a traceback that RQ keeps, some thousand."""

_NEVER_READ = frozenset(
    {
        *(f"{when}_callback_{what}" for when in ("success", "failure", "stopped") for what in ("name", "timeout")),
        *("webhooks", "retries_left", "retry_intervals", "enqueue_at_front_on_retry", "number_of_retries"),
        *("repeats_left", "repeat_intervals", "rate_limit_key", "rate_limit_concurrency"),
    }
)
"""They name functions and addresses of their own, or have RQ run a job again, which is for us alone to decide."""

_SECONDS = {
    b"timeout": re.compile(rb"[1-9][0-9]{0,8}"),
    **dict.fromkeys((b"result_ttl", b"failure_ttl", b"ttl"), re.compile(rb"-1|[0-9]{1,9}")),
}
"""Without the field, RQ takes what is usual."""

_JSON = {b"dependency_ids": list, b"meta": dict}
_SHOWN = frozenset({b"origin", b"description", b"worker_name", b"dependency_id"})


def read(fields: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Those of *fields* that may be read, without what would fill the memory; what is called is then empty."""
    kept = {name: _legible(name, value) for name, value in fields.items() if _may_be_read(name, value)}
    return {b"data": b"", **kept} if b"data" in fields else kept


def fits(value: bytes) -> bool:
    """Whether *value* is short enough, also when it is unpacked."""
    if len(value) > LONGEST:
        return False
    try:
        return len(zlib.decompressobj().decompress(value, LONGEST + 1)) <= LONGEST
    except zlib.error:
        return True  # it is not packed


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
"""The one function a job may name. Its arguments say which attempt to make; they hold no content."""

_PLAIN = frozenset({b"origin", b"description"})
"""Fields that are read as they are, whatever they hold."""

_ENTRY = re.compile(r"[0-9]{1,20}-[0-9]{1,20}")

Words = tuple[str, str, str, int]


class ForeignJob(Fatal):
    """A job that nous did not write. It is not run."""


class AllowListedJob(Job):
    """A job that runs `nous.job.perform`, and refuses everything else.

    JSON keeps pickles out, but a JSON job still names its function: `os.system` would run. Callbacks and webhooks name
    functions and addresses of their own, and retries would go on beside ours, so a job is read without them.
    """

    runner: Runner | None = None
    """Set by a worker that has the world at hand; without it, the function finds the world by itself."""

    def refresh(self) -> None:
        """Read the job from Redis. Raises `NoSuchJobError`, at which RQ goes on, also where its key holds no hash."""
        try:
            super().refresh()
        except redis.ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise
            raise NoSuchJobError(f"{self.key!r} is no job") from error

    def restore(self, raw_data: Any) -> Any:
        """Read the job from Redis, as far as it may be read (see `nous.jobs.rq.job`).

        One whose fields make no sense is read as a job that calls nothing: it fails, and its worker goes on.
        """
        fields = read(raw_data)
        try:
            return super().restore(fields)
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            kept = {name: value for name, value in fields.items() if name in _PLAIN}
            return super().restore({b"data": b"", **kept})

    def _execute(self) -> Any:
        words = words_in(self.data)
        if self.runner is not None:
            return self.runner(*words)
        return super()._execute()


def words_for(worker: str, lane: str, entry: str, attempt: int) -> bytes:
    """The call of `nous.job.perform` with these words, as RQ saves one in a job's field `data`."""
    return zlib.compress(JSONSerializer.dumps((FUNCTION, None, (worker, lane, entry, attempt), {})))


def words_in(data: bytes) -> Words:
    """The words that the call saved in *data* hands to `nous.job.perform`.

    Raises:
        ForeignJob: it calls something else, or cannot be read.
    """
    if not fits(data):
        raise ForeignJob(f"what the job calls has more than {LONGEST:,} bytes")
    with suppress(zlib.error):  # RQ takes what is not compressed as it is
        data = zlib.decompress(data)
    try:
        function, bound_to, arguments, named = JSONSerializer.loads(data)
        _refuse_unless_ours(function)
        worker, lane, entry, attempt = arguments
    except (ValueError, TypeError, RecursionError):
        raise ForeignJob("what the job calls cannot be read") from None
    is_named = all(isinstance(word, str) for word in (worker, lane, entry)) and lane in set(Lane)
    if bound_to is not None or named or not is_named or type(attempt) is not int or not _ENTRY.fullmatch(entry):
        raise ForeignJob("the job hands over other words than a worker, a lane, an entry and an attempt")
    return worker, lane, entry, attempt


def _refuse_unless_ours(function: Any) -> None:
    if function != FUNCTION:
        raise ForeignJob(f"the job names the function {str(function)[:80]!r}; only {FUNCTION} is run")
