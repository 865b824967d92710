"""One entry of a stream in Redis, looked at by whoever cannot know how large it is."""

from typing import Any

from nous.bus.redis_errors import translated
from nous.bus.scripts import Scripts
from nous.codec import LARGEST
from nous.errors import NotAllowed


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
