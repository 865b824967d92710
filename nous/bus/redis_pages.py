"""A stream read from its beginning to its end, a page at a time."""

from collections.abc import Iterator
from typing import Any

from nous.bus.redis_errors import translated

_PAGE = 500


def entries(client: Any, stream: str) -> Iterator[tuple[str, bytes]]:
    """Every entry of *stream*: its id, and the event that it carries. *client* must not decode responses."""
    yield from ((entry.decode(), fields.get(b"event", b"")) for entry, fields in whole_entries(client, stream))


def whole_entries(client: Any, stream: str) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    """Every entry of *stream*: its id, and its fields. *client* must not decode responses."""
    after = "-"
    while True:
        with translated():
            page: list[tuple[bytes, dict[bytes, bytes]]] = client.xrange(stream, after, count=_PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        after = f"({page[-1][0].decode()}"
