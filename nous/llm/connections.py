"""Connections to an endpoint, which belong to the event loop that opened them."""

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from nous.llm.endpoint import Endpoint

if TYPE_CHECKING:
    import httpx2


class Line(NamedTuple):
    """A client, the loop it lives in, and as many slots as calls may be in flight."""

    loop: asyncio.AbstractEventLoop
    client: "httpx2.AsyncClient"
    slots: asyncio.Semaphore


class Connections:
    """The line of the running loop. One of another loop belongs to the parent of this process, so it is left be."""

    def __init__(self, endpoint: Endpoint, *, largest: int | None = None) -> None:
        """Open nothing yet. *largest* is the bytes of an answer that are read, if not `wire.LARGEST_BODY`."""
        self._endpoint = endpoint
        self._largest = largest
        self._line: Line | None = None

    def line(self) -> Line:
        """Open it, unless it is open."""
        from nous.llm.wire import LARGEST_BODY, http_client  # noqa: PLC0415 (see `loaded`)

        loop = asyncio.get_running_loop()
        if self._line is None or self._line.loop is not loop:
            client = http_client(self._endpoint, largest=self._largest or LARGEST_BODY)
            self._line = Line(loop, client, asyncio.Semaphore(self._endpoint.concurrency))
        return self._line

    async def close(self) -> None:
        line, self._line = self._line, None
        if line and line.loop is asyncio.get_running_loop():
            await line.client.aclose()
