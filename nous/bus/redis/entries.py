"""Streams in Redis, read through. Plain commands, for who may only look: one entry is for `nous.bus.redis.entries`."""

from collections.abc import Iterator
from typing import Any

from nous.domain.errors import NotAllowed
from nous.domain.event_codec import LARGEST
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts

_PAGE = 500
_ENOUGH = 1 << 24
"""Bytes that a page may come to, if its entries are no larger than those before: foreign ones have any size."""


def entries(client: Any, stream: str) -> Iterator[tuple[str, bytes]]:
    """Every entry of *stream*: its id, and the event that it carries. *client* must not decode responses."""
    yield from ((entry.decode(), fields.get(b"event", b"")) for entry, fields in whole_entries(client, stream))


def whole_entries(
    client: Any, stream: str, *, after: str = "-", last: str = "+"
) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    """Every entry of *stream*, or from *after* on, as XRANGE takes it, up to *last*: its id, and its fields.

    *client* must not decode responses.
    """
    count = 1
    while True:
        with translated():
            page: list[tuple[bytes, dict[bytes, bytes]]] = client.xrange(stream, after, last, count=count)
        yield from page
        if len(page) < count:
            return
        after = f"({page[-1][0].decode()}"
        largest = max(sum(map(len, fields.values())) for _, fields in page)
        count = max(1, min(2 * count, _PAGE, _ENOUGH // max(largest, 1)))


def peek(run: Scripts, stream: str, entry: str) -> bytes | int | None:
    """The event in *entry*; how many bytes it has if it is larger than any may be; None where the entry is gone.

    By a script, so that what is too large stays where it is.
    """
    found: list[bytes | int] = run("peek", (stream,), (entry, LARGEST))
    return found[0] if found else None


def peek_as_viewer(client: Any, run: Scripts, stream: str, entry: str) -> bytes | int | None:
    """As `peek`, also for who may look at a server and run no scripts there: to him it is sent, however large.

    *client* must not decode responses.
    """
    try:
        return peek(run, stream, entry)
    except NotAllowed:
        with translated():
            found = client.xrange(stream, entry, entry)
        event: bytes = found[0][1].get(b"event", b"") if found else b""
        return (len(event) if len(event) > LARGEST else event) if found else None
