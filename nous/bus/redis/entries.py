"""Reads Redis Streams page by page, in bounded memory.

Streams are read with plain commands, for users who may only read. `peek` reads a single entry.
"""

from collections.abc import Iterator
from typing import Any

from nous.domain.event_codec import LARGEST
from nous.redis_support.errors import translated

_PAGE = 500
_ENOUGH = 1 << 24
"""Maximum bytes per page, if its entries are no larger than those before: foreign ones have any size."""


def entries(client: Any, stream: str) -> Iterator[tuple[str, bytes]]:
    """Yield the id and the event of every entry of *stream*.

    *client* must not decode responses.
    """
    yield from ((entry.decode(), fields.get(b"event", b"")) for entry, fields in whole_entries(client, stream))


def whole_entries(
    client: Any, stream: str, *, after: str = "-", last: str = "+"
) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    """Yield the id and the fields of the entries of *stream*, from *after* up to *last*.

    Both limits are as XRANGE takes them. *client* must not decode responses.
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


def peek(client: Any, stream: str, entry: str) -> bytes | int | None:
    """Return the event in *entry*, or None if the entry is gone.

    If the event is larger than allowed, return its size in bytes. *client* must not decode responses.
    """
    with translated():
        found: list[tuple[bytes, dict[bytes, bytes]]] = client.xrange(stream, entry, entry)
    event = found[0][1].get(b"event", b"") if found else None
    return len(event) if event and len(event) > LARGEST else event
