"""Blocking JSON requests to one endpoint, from many threads, over one event loop."""

import asyncio
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import orjson

from nous.domain.errors import Misconfigured
from nous.llm.base import ModelBusy, ModelTimeout, ModelUnreachable
from nous.llm.error_mapping import Asked, Refusal, refused, timed_out, unreachable
from nous.llm.event_loop_thread import LoopThread
from nous.llm.provider import Clock, Endpoint, StructureRefused

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

LARGEST_BODY = 4 * 1024 * 1024
"""The most bytes of an answer that are read, by default."""

_MARGIN = 1.0
"""Seconds beyond the two deadlines of a call, so that one of these, which say more, ends it first."""


class Send(Protocol[T_co]):
    """Send one request, in a structured or a plain form, and return what its answer holds."""

    def __call__(self, *, structured: bool) -> Coroutine[Any, Any, T_co]: ...


class _Opened(NamedTuple):
    """An HTTP client, its event loop, and a semaphore for the calls in flight."""

    loop: asyncio.AbstractEventLoop
    client: "httpx2.AsyncClient"
    slots: asyncio.Semaphore


class Transport:
    """HTTP client of an endpoint. Thread-safe.

    A call waits up to the endpoint's deadline for a free slot, and then has that long again to be answered. Connections
    open at the first call, in the loop; a forked child opens its own.
    """

    def __init__(self, endpoint: Endpoint, *, loop: LoopThread, clock: Clock, largest: int = LARGEST_BODY) -> None:
        """Open nothing yet; *largest* limits the bytes of an answer."""
        self._endpoint = endpoint
        self._loop = loop
        self._clock = clock
        self._largest = largest
        self._is_structured = endpoint.structured != "text"
        self._opened: _Opened | None = None

    def call(self, send: Send[T]) -> T:
        """Send the structured form, and the plain one if the provider rejects it.

        Keep to the plain form if it helped. If it did not, the form was not the cause: a wrong model name, say, or a
        question that is too long.

        Raises:
            Misconfigured: the extra `llm` is not installed.
            ModelBusy, ModelTimeout, ModelUnreachable: there was no answer; and what *send* raises.
        """
        endpoint = self._endpoint
        try:
            import_module("httpx2")  # takes a moment, and must not block the loop
        except ImportError as error:
            raise Misconfigured(f"{endpoint.id} needs the extra nous[llm]: install it beside nous") from error
        try:
            return self._loop.run(lambda: self._in_turn(send), deadline=2 * endpoint.deadline + _MARGIN)
        except TimeoutError:
            raise ModelTimeout(f"{endpoint} was not asked in time: this process is too busy") from None
        except CancelledError:
            raise ModelUnreachable(f"{endpoint} was not waited for: the loop was closed") from None

    async def post(
        self, path: str, payload: object, *, headers: Mapping[str, str], asked: Asked, structured: bool
    ) -> bytes:
        """Post *payload* as JSON and return the response body.

        HTTP errors are not chained to ours: they hold the question, and causes are logged.
        """
        import httpx2  # noqa: PLC0415 (an extra)

        endpoint = self._endpoint
        try:
            refusal = await self._exchanged(f"{endpoint.base_url}{path}", payload, headers)
        except httpx2.TimeoutException:
            raise timed_out(endpoint) from None
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise unreachable(endpoint, asked, error) from None
        if not 200 <= refusal.status < 300:
            raise refused(refusal, endpoint, asked, structured=structured, now=self._clock())
        if len(refusal.body) > self._largest:
            raise unreachable(endpoint, asked, f"it sent more than {self._largest} bytes")
        return refusal.body

    async def _exchanged(self, url: str, payload: object, headers: Mapping[str, str]) -> Refusal:
        """Return the response, whose body is cut off soon after the limit."""
        sent = {"Content-Type": "application/json", "User-Agent": "nous", **headers}
        body = bytearray()
        async with self._open().client.stream("POST", url, content=orjson.dumps(payload), headers=sent) as response:
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > self._largest:
                    break
        return Refusal(response.status_code, response.headers, bytes(body))

    def close(self) -> None:
        """Close the connections of this process. The next call opens others."""
        self._loop.run(self._close, deadline=self._endpoint.deadline)

    async def _in_turn(self, send: Send[T]) -> T:
        slots = self._open().slots
        await self._slot(slots)
        try:
            async with asyncio.timeout(self._endpoint.deadline):
                return await self._in_either_form(send)
        except TimeoutError:
            raise timed_out(self._endpoint) from None
        finally:
            slots.release()

    async def _slot(self, slots: asyncio.Semaphore) -> None:
        try:
            async with asyncio.timeout(self._endpoint.deadline):
                await slots.acquire()
        except TimeoutError:
            text = f"{self._endpoint}: all {self._endpoint.concurrency} calls that may be in flight are"
            raise ModelBusy(text, until=self._clock() + timedelta(seconds=self._endpoint.deadline / 4)) from None

    async def _in_either_form(self, send: Send[T]) -> T:
        if not self._is_structured:
            return await send(structured=False)
        try:
            return await send(structured=True)
        except StructureRefused:
            if self._endpoint.structured == "schema":
                raise
        found = await send(structured=False)
        self._is_structured = False
        return found

    def _open(self) -> _Opened:
        """Return the client of the running loop; that of another loop is left to the parent."""
        loop, most = asyncio.get_running_loop(), self._endpoint.concurrency
        if self._opened is None or self._opened.loop is not loop:
            self._opened = _Opened(loop, _client(self._endpoint), asyncio.Semaphore(most))
        return self._opened

    async def _close(self) -> None:
        opened, self._opened = self._opened, None
        if opened and opened.loop is asyncio.get_running_loop():
            await opened.client.aclose()


def _client(endpoint: Endpoint) -> "httpx2.AsyncClient":
    """Return a client that follows no redirects: a question never goes to another address."""
    import httpx2  # noqa: PLC0415 (an extra)

    most = endpoint.concurrency
    return httpx2.AsyncClient(
        timeout=endpoint.deadline,
        limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
        headers={"Accept-Encoding": "identity"},  # a few compressed bytes may expand beyond the available memory
        follow_redirects=False,
    )
