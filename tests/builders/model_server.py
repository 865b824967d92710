"""A model server on the loopback interface, which goes wrong when it is told to.

    with ModelServer(answer=lambda request: '{"title": "Tea"}') as server:
        server.set_faults(["500", "429 retry-after 1"])      # the next two requests; then it is healthy
        ...                                                  # base_url: server.openai_url or server.url (Anthropic)
        assert [request.fault for request in server.requests] == ["500", "429 retry-after 1", None]

It speaks `POST /v1/chat/completions`, `/v1/messages` and `/v1/embeddings` over real sockets. builders/model_faults.py
names the faults; `server.outage = "500"` spoils every request until it is None again. `hold(n)` keeps answers back
until n requests are in flight at once.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from threading import Event, RLock, Thread
from typing import Any, Self

import orjson

from builders import model_speech
from builders.model_faults import Wired, spoilt

FaultOf = Callable[["Request"], str | None]
ENDLESS = 1_000_000
DRIP = 0.02
"""Seconds between two bytes of an answer that drips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked, and the fault that it met."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    fault: str | None = None

    @property
    def user(self) -> str:
        """What the user said first."""
        return model_speech.user_text(self.body)

    @property
    def prompt(self) -> str:
        """sha256, in hex, of what the user said first."""
        return sha256(self.user.encode()).hexdigest()

    @property
    def key(self) -> str:
        """The key that came with it."""
        return self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def has_schema(self) -> bool:
        """Whether it asks for an answer of a certain form, which not every server knows."""
        return any(name in self.body for name in ("response_format", "tools", "encoding_format"))


def canned(_: Request) -> str:
    return '{"title": "Tea", "points": ["it is hot"], "count": 1}'


class ModelServer:
    """Answers with what *answer* gives for a request, or *vector* for a text; *faults* come first, one a request.

    Everything here may be called from any thread. `answer`, `vector` and a callable for faults run in the server's
    thread and must not block.
    """

    def __init__(
        self,
        answer: Callable[[Request], str] = canned,
        *,
        vector: Callable[[str], Sequence[float]] = model_speech.vector,
        faults: Iterable[str | None] = (),
    ) -> None:
        self.outage: str | None = None
        """The fault of every request from now on, or None."""
        self._answer = answer
        self._vector = vector
        self._lock = RLock()
        self._fault_of = _in_turn(faults)
        self._requests: list[Request] = []
        self._in_flight = 0
        self._peak = 0
        self._held_for = 0
        self._port = 0

    @property
    def url(self) -> str:
        """Its address, without a path: what Anthropic's SDK takes as the base."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def openai_url(self) -> str:
        """What OpenAI's SDK takes as the base."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in the order in which they came in whole."""
        with self._lock:
            return list(self._requests)

    @property
    def by_prompt(self) -> Counter[str]:
        """How many requests there were, by `Request.prompt`."""
        return Counter(request.prompt for request in self.requests)

    @property
    def by_fault(self) -> Counter[str | None]:
        """How many requests met which fault."""
        return Counter(request.fault for request in self.requests)

    @property
    def peak(self) -> int:
        """The most requests that were in flight at once."""
        with self._lock:
            return self._peak

    def set_faults(self, faults: Iterable[str | None] | FaultOf) -> None:
        """The faults of the next requests, in order, or what tells the fault of each request; then it is healthy."""
        with self._lock:
            self._fault_of = faults if callable(faults) else _in_turn(faults)

    def hold(self, count: int) -> None:
        """Keep answers back until *count* requests are in flight at once, now or before; 0 lets all of them go."""
        with self._lock:
            self._held_for = count
            self._peak = self._in_flight
        if self._port:
            asyncio.run_coroutine_threadsafe(self._look_again(), self._loop)

    def __enter__(self) -> Self:
        ready = Event()
        self._thread = Thread(target=lambda: asyncio.run(self._serve(ready)), name="model-server", daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self, ready: Event) -> None:
        self._loop, self._stop, self._changed = asyncio.get_running_loop(), asyncio.Event(), asyncio.Condition()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await self._converse(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass  # the caller has gone, or the test is over
            finally:
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=1024)
        self._port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stop.wait()
        server.close()
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.sleep(0)  # one that is cancelled before it has begun does not close its connection
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        # Nobody reads what is not sent yet, and it would keep a connection open; nor has each one met its handler.
        for transport in list(vars(self._loop)["_transports"].values()):
            transport.abort()
        await asyncio.sleep(0)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request after the other, as long as the caller keeps the connection."""
        while True:
            path, headers = await _head(reader)
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            request = Request(path=path, headers=headers, body=orjson.loads(body) if body else {})
            await self._exchange(self._noted(request), reader, writer)

    async def _exchange(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._gathered()
            body = self._said(request)
            told = f"{request.user} {request.key}"
            wired = spoilt(request.fault, Wired(body=body), has_schema=request.has_schema, told=told)
            if wired.manner == "hang":
                await reader.read(1)  # nothing comes until the caller goes
                raise ConnectionResetError
            await _send(writer, wired)
        finally:
            with self._lock:
                self._in_flight -= 1

    def _said(self, request: Request) -> bytes:
        if request.path.endswith("/embeddings"):
            return model_speech.vectors(request.body, request.fault, self._vector)
        return model_speech.answer(request.path, request.body, request.fault, lambda: self._answer(request))

    def _noted(self, request: Request) -> Request:
        with self._lock:
            fault = self.outage or self._fault_of(request)
            noted = Request(path=request.path, headers=request.headers, body=request.body, fault=fault)
            self._requests.append(noted)
            self._in_flight += 1
            self._peak = max(self._peak, self._in_flight)
        return noted

    async def _gathered(self) -> None:
        async with self._changed:
            if self._peak >= self._held_for:
                self._changed.notify_all()
            await self._changed.wait_for(lambda: self._peak >= self._held_for)

    async def _look_again(self) -> None:
        async with self._changed:
            self._changed.notify_all()


def _in_turn(faults: Iterable[str | None]) -> FaultOf:
    left = iter(tuple(faults))
    return lambda _: next(left, None)


async def _head(reader: asyncio.StreamReader) -> tuple[str, dict[str, str]]:
    """The path and the headers, by lower-case name."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
    _, path, _ = first.split(" ", 2)
    pairs = (line.split(":", 1) for line in lines)
    return path, {name.strip().lower(): value.strip() for name, value in pairs}


async def _send(writer: asyncio.StreamWriter, wired: Wired) -> None:
    """Send *wired* in its manner. The connection is left open only if that is "whole"."""
    if wired.manner == "closed":
        raise ConnectionResetError
    length = ENDLESS if wired.manner == "drip" else len(wired.body)
    known = (("content-type", "application/json"), ("content-length", str(length)), *wired.headers)
    head = "".join(f"{name}: {value}\r\n" for name, value in known)
    writer.write(f"HTTP/1.1 {wired.status} X\r\n{head}\r\n".encode("latin-1"))
    if wired.manner == "drip":
        await _drip(writer)
    writer.write(wired.body[: len(wired.body) // 2] if wired.manner == "cut" else wired.body)
    await writer.drain()
    if wired.manner == "cut":
        raise ConnectionResetError


async def _drip(writer: asyncio.StreamWriter) -> None:
    """A body byte by byte, so far all of it white space, that never comes to an end."""
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(DRIP)
