"""Streams in Redis, read through. Plain commands, for who may only look: one entry is for `nous.bus.redis_peeking`."""

from collections.abc import Iterator
from typing import Any

from nous.bus.redis_errors import translated

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
