"""A proxy before a server's socket, which spoils replies when it is told to.

    with Proxy(socket) as proxy:                        # proxy.url: redis://127.0.0.1:<port>
        proxy.spoil("cut", every=7, times=5)            # of the next replies each seventh, five of them
        ...
        assert proxy.spoilt == 5

A reply that is lost takes its connection with it, as in any network that keeps to TCP:

    "cut"       the connection is closed, and the reply does not come
    "torn"      half of the reply comes, then the connection is closed
    "hole"      nothing comes over the connection any more, and it stays open
    "delay"     the reply comes late
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Literal, Self

Manner = Literal["cut", "torn", "hole", "delay"]

_CHUNK = 1 << 16
_DELAY = 0.5
"""Seconds by which a reply is late."""


class Proxy:
    """Listens on the loopback interface and passes on what is said, on a thread of its own."""

    def __init__(self, socket: Path, *, tls: ssl.SSLContext | None = None) -> None:
        """Pass on to *socket*; with *tls*, those who come have to speak TLS."""
        self._socket = socket
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._is_up = Event()
        self._thread = Thread(target=self._run, name="proxy", daemon=True)
        self._manner: Manner = "cut"
        self._every = 1
        self._left = 0
        self._replies = 0
        self.port = 0
        self.spoilt = 0

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def spoil(self, manner: Manner, *, every: int, times: int) -> None:
        """Of the replies that come from now on, spoil each one whose number *every* divides, *times* of them."""
        self._manner, self._every, self._left, self._replies = manner, every, times, 0

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._is_up.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls))
        self.port = server.sockets[0].getsockname()[1]
        self._is_up.set()
        self._loop.run_forever()
        server.close()
        self._loop.set_exception_handler(lambda _loop, _context: None)  # connections that are cut off are no news
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        for transport in list(vars(self._loop)["_transports"].values()):
            transport.abort()  # also one that has not met its handler, or whose other side does not read
        self._loop.run_until_complete(asyncio.sleep(0))  # closes them
        self._loop.close()

    async def _serve(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        # Closed whatever ends this, even if that is cancelled in turn: one that is left open is told of later.
        with closing(to_client), suppress(OSError):  # no server: nobody can be connected with it
            server, to_server = await asyncio.open_unix_connection(str(self._socket))
            with closing(to_server):
                await self._pass_on((client, to_client), (server, to_server))

    async def _pass_on(self, client: "_Side", server: "_Side") -> None:
        pumps = [
            asyncio.ensure_future(self._pump(client[0], server[1], self._as_it_is)),
            asyncio.ensure_future(self._pump(server[0], client[1], self._reply)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _pump(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, change: Callable[[bytes], "_Passed"]
    ) -> None:
        """Pass on what comes, until one side has gone or *change* ends it."""
        with suppress(OSError):
            while chunk := await source.read(_CHUNK):
                passed, manner = change(chunk)
                if manner == "hole":
                    await asyncio.Event().wait()
                if manner == "delay":
                    await asyncio.sleep(_DELAY)
                target.write(passed)
                await target.drain()
                if manner in {"cut", "torn"}:
                    return

    @staticmethod
    def _as_it_is(chunk: bytes) -> "_Passed":
        return chunk, None

    def _reply(self, chunk: bytes) -> "_Passed":
        self._replies += 1
        if not self._left or self._replies % self._every:
            return chunk, None
        self._left -= 1
        self.spoilt += 1
        whole = {"cut": b"", "torn": chunk[: len(chunk) // 2]}
        return whole.get(self._manner, chunk), self._manner


_Passed = tuple[bytes, Manner | None]
_Side = tuple[asyncio.StreamReader, asyncio.StreamWriter]
