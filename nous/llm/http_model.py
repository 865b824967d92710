"""HTTP client for language models of every provider."""

import asyncio
from concurrent.futures import CancelledError
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING

import structlog

from nous.domain.errors import Misconfigured
from nous.domain.plug_ins import PlugIns
from nous.llm import messages, providers
from nous.llm.base import ModelBusy, ModelTimeout, ModelUnreachable, Question, Reply
from nous.llm.error_mapping import Refusal, refused, timed_out, unreachable
from nous.llm.event_loop_thread import Connections, LoopThread
from nous.llm.provider import Clock, Endpoint, Provider, StructureRefused
from nous.llm.state import UsageCounters

if TYPE_CHECKING:
    import httpx2


def loaded(endpoint: Endpoint) -> None:
    """Import the HTTP client. The first import takes a moment and must not block an event loop.

    Raises:
        Misconfigured: it is not installed.
    """
    try:
        import_module("nous.llm.http")
    except ImportError as error:
        raise Misconfigured(f"{endpoint.id} needs the extra nous[llm]: install it beside nous") from error


PROVIDERS = PlugIns(providers, attribute="PROVIDER", group="nous.providers")

_MARGIN = 1.0
"""Seconds beyond the two deadlines of a call, so that one of these, which say more, ends it first."""


log = structlog.get_logger(__name__)


class HttpModel:
    """Language model at an HTTP endpoint.

    A call waits up to the endpoint's deadline for a free slot, and then has that long again to be answered. Connections
    open at the first call, in the loop; a forked child opens its own.
    """

    def __init__(
        self, endpoint: Endpoint, *, loop: LoopThread, clock: Clock, counters: UsageCounters | None = None
    ) -> None:
        """Find the provider. *counters* counts repeated requests without a schema.

        Raises:
            Misconfigured: there is no such provider, or the endpoint lacks what it needs.
        """
        self._provider = provider_of(endpoint.provider)
        self._endpoint = self._provider.settled(endpoint)
        self._is_structured = endpoint.structured != "text"
        self._loop = loop
        self._clock = clock
        self._counters = counters
        self._connections = Connections(self._endpoint)

    @property
    def id(self) -> str:
        return self._endpoint.id

    def ask(self, question: Question, /) -> Reply:
        """Answer *question*; see `Model.ask`.

        Raises:
            Misconfigured: the extra `llm` is not installed.
        """
        loaded(self._endpoint)
        requests: list[bool] = []
        try:
            return self._loop.run(
                lambda: self._in_turn(question, requests), deadline=2 * self._endpoint.deadline + _MARGIN
            )
        except TimeoutError:
            raise ModelTimeout(f"{self._endpoint} was not asked in time: this process is too busy") from None
        except CancelledError:
            raise ModelUnreachable(f"{self._endpoint} was not waited for: the loop was closed") from None
        finally:
            if len(requests) > 1:
                self._note_repeat()

    def _note_repeat(self) -> None:
        log.info("model.retried_without_schema", model=self.id)
        if self._counters:
            self._counters.count(self.id, calls=1, without_schema=1)

    def close(self) -> None:
        """Close the connections of this process and end its loop thread; a call starts both again."""
        self._loop.run(self._connections.close, deadline=self._endpoint.deadline)
        self._loop.close()

    async def _in_turn(self, question: Question, requests: list[bool]) -> Reply:
        """Ask when a slot is free; append to *requests*, per request, whether it had a schema."""
        opened = self._connections.open()
        await self._slot(opened.slots)
        try:
            async with asyncio.timeout(self._endpoint.deadline):
                return await self._answered(opened.client, question, requests)
        except TimeoutError:
            raise ModelTimeout(f"{self._endpoint} did not answer within {self._endpoint.deadline:g} s") from None
        finally:
            opened.slots.release()

    async def _slot(self, slots: asyncio.Semaphore) -> None:
        try:
            async with asyncio.timeout(self._endpoint.deadline):
                await slots.acquire()
        except TimeoutError:
            text = f"{self._endpoint}: all {self._endpoint.concurrency} calls that may be in flight are"
            raise ModelBusy(text, until=self._clock() + timedelta(seconds=self._endpoint.deadline / 4)) from None

    async def _answered(self, client: "httpx2.AsyncClient", question: Question, requests: list[bool]) -> Reply:
        """Ask with a schema; if the provider rejects it, ask without, and keep to that if it helped.

        If it did not help, the schema was not the cause: a wrong model name, say, or a question that is too long.
        """
        if not self._is_structured:
            return await self._asked(client, question, structured=False)
        requests.append(True)
        try:
            return await self._asked(client, question, structured=True)
        except StructureRefused:
            if self._endpoint.structured == "schema":
                raise
        requests.append(False)
        reply = await self._asked(client, question, structured=False)
        self._is_structured = False
        return reply

    async def _asked(self, client: "httpx2.AsyncClient", question: Question, *, structured: bool) -> Reply:
        """Send one request.

        HTTP errors are not chained to ours: they hold the question, and causes are logged.
        """
        import httpx2  # noqa: PLC0415 (see `loaded`)

        from nous.llm.http import TooLarge, post  # noqa: PLC0415 (see `loaded`)

        endpoint, provider = self._endpoint, self._provider
        payload = provider.payload(question, endpoint, structured=structured)
        try:
            response = await post(client, endpoint, provider.path, payload, headers=provider.headers(endpoint))
        except TooLarge:
            return messages.too_large(question, endpoint)
        except httpx2.TimeoutException:
            raise timed_out(endpoint) from None
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise unreachable(endpoint, question, error) from None
        if response.is_success:
            return provider.read(response.content, question, endpoint)
        refusal = Refusal(response.status_code, response.headers, response.content)
        raise refused(refusal, endpoint, question, structured=structured, now=self._clock()) from None


def known_providers() -> tuple[str, ...]:
    """Return all names: modules in nous/llm/providers, and entry points `nous.providers`."""
    return tuple(sorted(PROVIDERS.names()))


def split(name: str) -> tuple[str, str]:
    """Split a name such as `openai:gpt-5-mini` into provider and model.

    The model's name may contain further colons.

    Raises:
        Misconfigured: the provider is unknown, or the model is missing.
    """
    provider, _, model = name.strip().partition(":")
    if not model or provider not in known_providers():
        raise Misconfigured(
            f"{name!r} names no model of a provider; write PROVIDER:MODEL, where a provider is one of "
            f"{', '.join(known_providers())}"
        )
    return provider, model


def provider_of(name: str) -> Provider:
    """Return the provider called *name*.

    Raises:
        Misconfigured: there is none.
    """
    if name not in known_providers():
        raise Misconfigured(f"no provider is called {name!r}; there are {', '.join(known_providers())}")
    return PROVIDERS.load(name)
