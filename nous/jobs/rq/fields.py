"""What is read of a job's hash, which anybody may have written who can write to the server."""

import re
import zlib
from collections.abc import Mapping

import orjson

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
