"""Embedders behind HTTP, wherever OpenAI's protocol is spoken: `POST /embeddings`."""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from nous.embed.answer import Unusable, vectors
from nous.errors import BadInput, Deferred, Misconfigured, Unavailable
from nous.llm.base import ModelMisconfigured, ModelQuota, ModelRefused, ModelTimeout, ModelUnreachable
from nous.llm.endpoint import Clock, Endpoint, StructureRefused
from nous.llm.failures import Refusal, refused, timed_out, unreachable
from nous.llm.loop import LoopThread
from nous.llm.providers.openai import ChatCompletions
from nous.llm.remote import provider_of

if TYPE_CHECKING:
    import httpx2
    from numpy.typing import NDArray

MOST_TEXTS = 256
"""Texts in one request."""

MOST_CHARACTERS = 200_000
"""Characters in one request. OpenAI takes 300,000 tokens; a character is one at most in nearly all writing."""

LONGEST_TEXT = 8_000
"""Characters of a text that are sent; the rest does not count. OpenAI refuses a text of more than 8,192 tokens."""

LARGEST_BODY = 32 * 1024 * 1024
"""Bytes of an answer, from which on it is not read to its end: 256 vectors of 4,096 numbers in digits take 24 MB."""

_NOTHING = "(nothing)"
"""Sent for a text without words, which OpenAI refuses."""

_MARGIN = 1.0
"""Seconds beyond the deadline of a request, so that it ends by that, which says more."""


class RemoteEmbedder:
    """A model at an endpoint, which may be shared by threads.

    Each request has the endpoint's deadline to itself; many texts take several, one after the other. Where no
    *dimensions* are set, the first answer tells them, and `id` and `dim` ask for one if there was none. Whoever serves
    a model, its vectors are taken to be the same, so the id names the protocol, not the server.
    """

    def __init__(self, endpoint: Endpoint, *, loop: LoopThread, clock: Clock, dimensions: int | None = None) -> None:
        """Ask for vectors of *dimensions* numbers, if given; not every model can be asked that. Nothing is loaded.

        Raises:
            Misconfigured: the endpoint is of a provider without embedders, or lacks what it needs.
        """
        self._endpoint = _settled(endpoint)
        self._loop = loop
        self._clock = clock
        self._dimensions = dimensions
        self._found: dict[str, int] = {}
        self._is_packed = True
        self._line: _Line | None = None

    @property
    def id(self) -> str:
        return f"openai:{self._endpoint.model}@{self.dim}"

    @property
    def dim(self) -> int:
        if self._dimensions is None and not self._found:
            self.embed([_NOTHING])
        return self._dimensions or self._found["dim"]

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """See `Embedder.embed`.

        Raises:
            Deferred: the server said when to come back.
            BadInput: it will not take one of these texts.
        """
        _load(self._endpoint)
        found = [self._embedded(chunk) for chunk in _chunks([_sendable(text) for text in texts])]
        return np.vstack(found) if found else np.empty((0, self.dim), dtype=np.float32)

    def close(self) -> None:
        """Close the connections of this process. Embedding would open others."""
        self._loop.run(self._hung_up, deadline=self._endpoint.deadline)

    def _embedded(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        with _translated(self._endpoint):
            body = self._loop.run(lambda: self._answer(texts), deadline=self._endpoint.deadline + _MARGIN)
            return self._checked(vectors(body, count=len(texts)))

    def _checked(self, rows: "NDArray[np.float32]") -> "NDArray[np.float32]":
        """*rows*, if they have the dimension that was set, or else that of the first answer.

        `setdefault` takes no lock, which a fork might find locked for ever.
        """
        found = rows.shape[1]
        expected = self._dimensions or self._found.setdefault("dim", found)
        if found != expected:
            raise Misconfigured(
                f"{self._endpoint} answers with vectors of {found} numbers, not {expected}: the number that is set is "
                "not the model's, or another model goes by its name now; set what fits, and start again"
            )
        return rows

    async def _answer(self, texts: Sequence[str]) -> bytes:
        """Ask for base64, which is a quarter of the digits; without it where it is refused, and from then on."""
        import httpx2  # noqa: PLC0415 (an extra)

        try:
            async with asyncio.timeout(self._endpoint.deadline):
                return await self._in_a_form_it_knows(self._opened(), texts)
        except (TimeoutError, httpx2.TimeoutException):
            raise timed_out(self._endpoint) from None
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise unreachable(self._endpoint, texts, error) from None

    async def _in_a_form_it_knows(self, client: "httpx2.AsyncClient", texts: Sequence[str]) -> bytes:
        if not self._is_packed:
            return await self._posted(client, texts, packed=False)
        try:
            return await self._posted(client, texts, packed=True)
        except StructureRefused:
            body = await self._posted(client, texts, packed=False)
        self._is_packed = False
        return body

    async def _posted(self, client: "httpx2.AsyncClient", texts: Sequence[str], *, packed: bool) -> bytes:
        response = await client.post(
            f"{self._endpoint.base_url}/embeddings",
            content=_payload(self._endpoint.model, texts, self._dimensions, packed=packed),
            headers={"Authorization": f"Bearer {self._endpoint.api_key}", "Content-Type": "application/json"},
        )
        if response.is_success:
            return response.content
        refusal = Refusal(response.status_code, response.headers, response.content)
        raise refused(refusal, self._endpoint, texts, structured=packed, now=self._clock())

    def _opened(self) -> "httpx2.AsyncClient":
        """The client of the running loop. One of another loop belongs to the parent of this process: it is left be."""
        from nous.llm.wire import http_client  # noqa: PLC0415 (see `_load`)

        loop = asyncio.get_running_loop()
        if self._line is None or self._line.loop is not loop:
            self._line = _Line(loop, http_client(self._endpoint, largest=LARGEST_BODY))
        return self._line.client

    async def _hung_up(self) -> None:
        line, self._line = self._line, None
        if line and line.loop is asyncio.get_running_loop():
            await line.client.aclose()


class _Line(NamedTuple):
    """A client, and the loop it lives in."""

    loop: asyncio.AbstractEventLoop
    client: "httpx2.AsyncClient"


def _settled(endpoint: Endpoint) -> Endpoint:
    provider = provider_of(endpoint.provider)
    if not isinstance(provider, ChatCompletions):
        raise Misconfigured(f"{endpoint.id} is no embedder: {endpoint.provider} does not speak OpenAI's protocol")
    return provider.settled(endpoint)


def _load(endpoint: Endpoint) -> None:
    """Import the HTTP client: at the first time it takes a moment, for which no event loop can wait."""
    try:
        import_module("nous.llm.wire")
    except ImportError as error:
        raise Misconfigured(f"{endpoint.id} needs nous[llm]; run: pip install 'nous[llm]'") from error


def _sendable(text: str) -> str:
    """The beginning of *text*, without lone surrogates, which JSON can carry and UTF-8 cannot."""
    beginning = text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")
    return beginning if beginning.strip() else _NOTHING


def _chunks(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """*texts* in their order, as many at a time as one request may hold."""
    chunk: list[str] = []
    for text in texts:
        if len(chunk) == MOST_TEXTS or (chunk and sum(map(len, chunk)) + len(text) > MOST_CHARACTERS):
            yield tuple(chunk)
            chunk = []
        chunk.append(text)
    if chunk:
        yield tuple(chunk)


def _payload(model: str, texts: Sequence[str], dimensions: int | None, *, packed: bool) -> bytes:
    payload: dict[str, Any] = {"model": model, "input": list(texts)}
    if dimensions is not None:
        payload["dimensions"] = dimensions
    if packed:
        payload["encoding_format"] = "base64"
    return orjson.dumps(payload)


@contextmanager
def _translated(endpoint: Endpoint) -> Iterator[None]:
    """The errors of models as those of embedders. Their causes are left out: they may hold the texts."""
    try:
        yield
    except Unusable as error:
        raise Unavailable(f"{endpoint} gave no vectors that can be used: {error}") from None
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
