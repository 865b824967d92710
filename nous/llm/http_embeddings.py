"""HTTP client for embeddings in OpenAI's protocol: `POST /embeddings`."""

import asyncio
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nous.domain.errors import BadInput, Deferred, Misconfigured, Unavailable
from nous.llm.base import ModelMisconfigured, ModelQuota, ModelRefused, ModelTimeout, ModelUnreachable
from nous.llm.error_mapping import Refusal, refused, timed_out, unreachable
from nous.llm.event_loop_thread import Connections, LoopThread
from nous.llm.http_model import loaded, provider_of
from nous.llm.provider import Clock, Endpoint, StructureRefused
from nous.llm.providers.openai import ChatCompletions

if TYPE_CHECKING:
    import httpx2

LARGEST_BODY = 32 * 1024 * 1024
"""The most bytes of an answer that are read: 256 vectors of 4,096 numbers in digits take 24 MB."""

_PATH = "/embeddings"
_MARGIN = 1.0
"""Seconds beyond the deadline of a request, so that the request's own timeout, which says more, ends it first."""


class HttpEmbeddings:
    """Embedding model at an HTTP endpoint. Thread-safe; connects at the first request."""

    def __init__(self, endpoint: Endpoint, *, loop: LoopThread, clock: Clock) -> None:
        """Configure the client for *endpoint*, without loading anything.

        Raises:
            Misconfigured: the provider has no embedders, or the endpoint lacks what it needs.
        """
        self._provider = _provider(endpoint)
        self._endpoint = self._provider.settled(endpoint)
        self._loop = loop
        self._clock = clock
        self._is_packed = True
        self._connections = Connections(self._endpoint, largest=LARGEST_BODY)

    @property
    def model(self) -> str:
        return self._endpoint.model

    def __str__(self) -> str:
        return str(self._endpoint)

    def ask(self, texts: Sequence[str], *, dimensions: int | None) -> bytes:
        """Return the response body for *texts*, unparsed, within the endpoint's deadline.

        Raises:
            Unavailable: there was no whole answer, or none in time.
            Deferred: the server said when to come back.
            BadInput: it will not take one of these texts.
            Misconfigured: it will take none, or the extra `llm` is not installed.
        """
        loaded(self._endpoint)
        with _translated(self._endpoint):
            return self._loop.run(
                lambda: self._answered(texts, dimensions),
                deadline=self._endpoint.deadline + _MARGIN,
            )

    def close(self) -> None:
        """Close the connections of this process. The next request opens others."""
        self._loop.run(self._connections.close, deadline=self._endpoint.deadline)

    async def _answered(self, texts: Sequence[str], dimensions: int | None) -> bytes:
        import httpx2  # noqa: PLC0415 (an extra)

        client = self._connections.open().client
        try:
            async with asyncio.timeout(self._endpoint.deadline):
                return await self._in_a_form_it_knows(client, texts, dimensions)
        except (TimeoutError, httpx2.TimeoutException):
            raise timed_out(self._endpoint) from None
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise unreachable(self._endpoint, texts, error) from None

    async def _in_a_form_it_knows(
        self, client: "httpx2.AsyncClient", texts: Sequence[str], dimensions: int | None
    ) -> bytes:
        """Ask for base64, which has a quarter of the size; fall back to numbers, and remember that.

        The client remembers it only if the fallback succeeded.
        """
        if not self._is_packed:
            return await self._posted(client, texts, dimensions, packed=False)
        try:
            return await self._posted(client, texts, dimensions, packed=True)
        except StructureRefused:
            body = await self._posted(client, texts, dimensions, packed=False)
        self._is_packed = False
        return body

    async def _posted(
        self, client: "httpx2.AsyncClient", texts: Sequence[str], dimensions: int | None, *, packed: bool
    ) -> bytes:
        from nous.llm.http import post  # noqa: PLC0415 (see `loaded`)

        payload = _payload(self.model, texts, dimensions, packed=packed)
        response = await post(client, self._endpoint, _PATH, payload, headers=self._provider.headers(self._endpoint))
        if response.is_success:
            return response.content
        refusal = Refusal(response.status_code, response.headers, response.content)
        raise refused(refusal, self._endpoint, texts, structured=packed, now=self._clock())


def _provider(endpoint: Endpoint) -> ChatCompletions:
    provider = provider_of(endpoint.provider)
    if not isinstance(provider, ChatCompletions):
        raise Misconfigured(f"{endpoint.id} is no embedder: {endpoint.provider} does not speak OpenAI's protocol")
    return provider


def _payload(model: str, texts: Sequence[str], dimensions: int | None, *, packed: bool) -> dict[str, Any]:
    payload: dict[str, Any] = {"model": model, "input": list(texts)}
    if dimensions is not None:
        payload["dimensions"] = dimensions
    if packed:
        payload["encoding_format"] = "base64"
    return payload


@contextmanager
def _translated(endpoint: Endpoint) -> Generator[None]:
    """Translate model errors to embedder errors, without their causes, which may hold the texts."""
    try:
        yield
    except (ModelTimeout, ModelUnreachable) as error:
        raise Unavailable(str(error)) from None
    except ModelQuota as error:
        raise Deferred(str(error), until=error.until) from None
    except ModelMisconfigured as error:
        raise Misconfigured(str(error)) from None
    except ModelRefused as error:
        raise BadInput(str(error)) from None
    except TimeoutError:
        raise Unavailable(f"{endpoint} was not asked in time: this process is too busy") from None
    except CancelledError:
        raise Unavailable(f"{endpoint} was not waited for: the loop was closed") from None
