"""Post texts to an OpenAI-style `/embeddings` endpoint; return the response body unparsed."""

from collections.abc import Sequence
from typing import Any

from nous.domain.errors import BadInput, Misconfigured, Unavailable
from nous.llm.base import ModelRefused, ModelTimeout, ModelUnreachable
from nous.llm.http_model import PROVIDERS
from nous.llm.provider import Clock, Endpoint, Provider
from nous.llm.providers.openai import ChatCompletions
from nous.llm.transport import Transport

LARGEST_BODY = 32 * 1024 * 1024
"""The most bytes of an answer that are read: 256 vectors of 4,096 numbers in digits take 24 MB."""

_PATH = "/embeddings"


class HttpEmbeddings:
    """Embedding model at an HTTP endpoint. Thread-safe."""

    def __init__(self, endpoint: Endpoint, *, clock: Clock) -> None:
        """Raise Misconfigured if the provider has no embedders, or the endpoint lacks what it needs."""
        provider: Provider = PROVIDERS.load(endpoint.provider)
        if not isinstance(provider, ChatCompletions):
            raise Misconfigured(f"{endpoint.id} is no embedder: {endpoint.provider} does not speak OpenAI's protocol")
        self._provider = provider
        self._endpoint = provider.settled(endpoint)
        self.model = self._endpoint.model
        self._transport = Transport(self._endpoint, clock=clock, largest=LARGEST_BODY)

    def __str__(self) -> str:
        return str(self._endpoint)

    def ask(self, texts: Sequence[str], *, dimensions: int | None) -> bytes:
        """Return the response body for *texts*, unparsed.

        Vectors are requested in base64, which has a quarter of the size, and as numbers if the server rejects that.
        Raises what `Embedder.embed` raises.
        """

        async def send(*, structured: bool) -> bytes:
            payload: dict[str, Any] = {"model": self.model, "input": list(texts)}
            if dimensions is not None:
                payload["dimensions"] = dimensions
            if structured:
                payload["encoding_format"] = "base64"
            headers = self._provider.headers(self._endpoint)
            return await self._transport.post(_PATH, payload, headers=headers, asked=texts, structured=structured)

        try:
            return self._transport.call(send)
        # Without their causes, which may hold the texts.
        except (ModelTimeout, ModelUnreachable) as error:
            raise Unavailable(str(error)) from None
        except ModelRefused as error:
            raise BadInput(str(error)) from None
