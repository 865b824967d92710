"""Every byte that a server holds under any key, so that a test can say that something is nowhere."""

import gzip
import zlib
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import redis


def keys_with(client: redis.Redis, *planted: str) -> dict[str, set[str]]:
    """The keys that hold one of these texts in their name, their value or the bytes of their DUMP, and which."""
    server: Any = client
    server.config_set("rdbcompression", "no")  # else a DUMP holds no text that can be recognised
    found: dict[str, set[str]] = {}
    for key in server.scan_iter("*", count=1000):
        held = b"\n".join((key, *_bytes_of(server, key)))
        if here := {text for text in planted if text.encode() in held}:
            found[key.decode()] = here
    return found


def _bytes_of(server: Any, key: bytes) -> Iterator[bytes]:
    yield server.dump(key) or b""
    for value in _values(server, key):
        yield value
        yield _unpacked(value)
        with suppress(Error, ValueError):
            yield b64decode(value, validate=True)


def _values(server: Any, key: bytes) -> Iterator[bytes]:
    match server.type(key):
        case b"string":
            yield server.get(key) or b""
        case b"hash":
            yield from (part for pair in server.hgetall(key).items() for part in pair)
        case b"list":
            yield from server.lrange(key, 0, -1)
        case b"set":
            yield from server.smembers(key)
        case b"zset":
            yield from server.zrange(key, 0, -1)
        case b"stream":
            yield from (part for _, fields in server.xrange(key) for pair in fields.items() for part in pair)
        case other:
            raise AssertionError(f"{key!r} is of the type {other!r}, which this does not read")


def _unpacked(value: bytes) -> bytes:
    for unpack in (zlib.decompress, gzip.decompress):
        with suppress(zlib.error, OSError, EOFError):
            return unpack(value)
    return b""
