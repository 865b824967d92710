"""Embed texts by an OpenAI-style `/embeddings` endpoint: batch them, validate the vectors."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from nous.domain.errors import BadInput, Misconfigured, Unavailable
from nous.llm.base import ModelRefused, ModelTimeout, ModelUnreachable
from nous.llm.http_model import PROVIDERS, Transport
from nous.llm.provider import Clock, Endpoint, Provider
from nous.llm.providers.openai import ChatCompletions
from nous.redaction.redactor import masked

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_BODY = 32 * 1024 * 1024
"""The most bytes of an answer that are read: 256 vectors of 4,096 numbers in digits take 24 MB."""

MOST_TEXTS = 256
MOST_CHARACTERS = 200_000
"""Maximum characters in one request: OpenAI takes 300,000 tokens, and a character is seldom more than one."""

LONGEST_TEXT = 8_000  # maximum characters of a text that are sent: OpenAI rejects more than 8,192 tokens
_NOTHING = "(nothing)"  # sent for a text without words, which OpenAI rejects
_PATH = "/embeddings"


def vectors(body: bytes, *, count: int) -> "NDArray[np.float32]":
    """Return the vectors of *count* texts, at least 1, by their indices, scaled to length 1.

    Raises `ValueError` if one is missing or repeated, lengths differ, or one of them has no direction; the text says
    which.
    """
    try:
        items = sorted(orjson.loads(body)["data"], key=lambda item: item["index"])
        numbers = [item["index"] for item in items]
        rows = np.array([item["embedding"] for item in items], dtype=np.float64)
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        raise ValueError("what it sent is no list of numbered vectors of one length") from error
    if numbers != [*range(count)] or rows.ndim != 2:
        raise ValueError(f"it sent {len(items)} vectors for {count} texts, not one for each")
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise ValueError("a vector of it is zero, or has numbers that are not finite")
    return (rows / lengths).astype(np.float32)


class RemoteEmbedder:
    """Embedder on a server; thread-safe. Many texts take several requests, one after the other.

    Without *dimensions*, which not every model supports, the first response determines them; `id` and `dim` send a
    request if there was none. The id names the protocol, not the server: a model has the same vectors on every one.
    """

    def __init__(self, endpoint: Endpoint, *, clock: Clock, dimensions: int | None = None) -> None:
        """Raise Misconfigured if the provider has no embedders, or the endpoint lacks what it needs."""
        provider: Provider = PROVIDERS.load(endpoint.provider)
        if not isinstance(provider, ChatCompletions):
            raise Misconfigured(f"{endpoint.id} is no embedder: {endpoint.provider} does not speak OpenAI's protocol")
        self._provider = provider
        self._endpoint = provider.settled(endpoint)
        self._transport = Transport(self._endpoint, clock=clock, largest=LARGEST_BODY)
        self._dimensions = dimensions
        self._found: dict[str, int] = {}

    @property
    def id(self) -> str:
        return f"openai:{self._endpoint.model}@{self.dim}"

    @property
    def dim(self) -> int:
        if self._dimensions is None and not self._found:
            self.embed([_NOTHING])
        return self._dimensions or self._found["dim"]

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        found = [self._embedded(chunk) for chunk in _chunks([_sendable(text) for text in texts])]
        return np.vstack(found) if found else np.empty((0, self.dim), dtype=np.float32)

    def _embedded(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        body = self._asked(texts)
        try:
            rows = vectors(body, count=len(texts))
        except ValueError as error:
            raise Unavailable(f"{self._endpoint} gave no vectors that can be used: {error}") from None
        found = rows.shape[1]
        # `setdefault` takes no lock, so a fork cannot inherit one that stays locked for ever.
        expected = self._dimensions or self._found.setdefault("dim", found)
        if found != expected:
            raise Misconfigured(
                f"{self._endpoint} answers with vectors of {found} numbers, not {expected}: the number that is set is "
                "not the model's, or another model has its name now; set what fits, and start again"
            )
        return rows

    def _asked(self, texts: Sequence[str]) -> bytes:
        payload: dict[str, Any] = {"model": self._endpoint.model, "input": list(texts)}
        if self._dimensions is not None:
            payload["dimensions"] = self._dimensions
        headers = self._provider.headers(self._endpoint)
        try:
            return self._transport.call(partial(self._transport.post, _PATH, payload, headers=headers, asked=texts))
        # Without their causes, which may hold the texts.
        except (ModelTimeout, ModelUnreachable) as error:
            raise Unavailable(str(error)) from None
        except ModelRefused as error:
            raise BadInput(str(error)) from None


def _sendable(text: str) -> str:
    """Return the start of *text* without secrets and lone surrogates, which UTF-8 cannot encode."""
    beginning = masked(text[:LONGEST_TEXT]).encode("utf-8", "replace").decode("utf-8")
    return beginning if beginning.strip() else _NOTHING


def _chunks(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    chunk: list[str] = []
    for text in texts:
        if len(chunk) == MOST_TEXTS or (chunk and sum(map(len, chunk)) + len(text) > MOST_CHARACTERS):
            yield tuple(chunk)
            chunk = []
        chunk.append(text)
    if chunk:
        yield tuple(chunk)
