"""Embedders that are servers: what may be sent to them at once, and whether what they answer can be used."""

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import orjson

from nous.domain.errors import Misconfigured, Unavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Unusable(ValueError):
    """An answer that does not hold the vectors that were asked for; the text says why."""


def vectors(body: bytes, *, count: int) -> "NDArray[np.float32]":
    """The vectors of *count* texts, one at least, in the order of their indices, each scaled to length 1.

    Raises:
        Unusable: they are not all there, not each once, not of one length, or one of them has no direction.
    """
    rows = _in_order(_items(body), count)
    if len({len(row) for row in rows}) > 1:
        raise Unusable("its vectors are not of one length")
    return _scaled(np.array(rows, dtype=np.float64))


def _items(body: bytes) -> Sequence[Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Unusable("what it sent is not JSON") from error
    match found:
        case {"data": list() as items}:
            return items
        case {"error": error} if error:
            raise Unusable("it sent an error as if it were an answer")
        case _:
            raise Unusable("what it sent has no list of vectors")


def _in_order(items: Sequence[Any], count: int) -> "list[NDArray[Any]]":
    """The vectors of *items*, which may come in any order."""
    if len(items) != count:
        raise Unusable(f"it sent {len(items)} vectors for {count} texts")
    by_index = {index: row for index, row in map(_numbered, items) if 0 <= index < count}
    if len(by_index) != count:
        raise Unusable(f"it did not number its vectors from 0 to {count - 1}, each once")
    return [by_index[index] for index in range(count)]


def _numbered(item: Any) -> "tuple[int, NDArray[Any]]":
    match item:
        case {"index": int() as index, "embedding": str() as packed}:
            return index, _unpacked(packed)
        case {"index": int() as index, "embedding": list() as numbers}:
            return index, _listed(numbers)
        case _:
            raise Unusable("what it sent for a vector has no index or no numbers")


def _unpacked(packed: str) -> "NDArray[Any]":
    """The numbers of a vector in base64: each four bytes, the lowest first."""
    try:
        return np.frombuffer(base64.b64decode(packed, validate=True), dtype="<f4")
    except (binascii.Error, ValueError) as error:
        raise Unusable("a vector of it is not 32-bit numbers in base64") from error


def _listed(numbers: list[Any]) -> "NDArray[Any]":
    try:
        row = np.array(numbers)
    except (ValueError, OverflowError) as error:
        raise Unusable("a vector of it holds what is no number") from error
    if row.ndim != 1 or row.dtype.kind not in "fiu":
        raise Unusable("a vector of it holds what is no number")
    return row


def _scaled(rows: "NDArray[np.float64]") -> "NDArray[np.float32]":
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise Unusable("a vector of it is zero, or has numbers that are not finite")
    return (rows / lengths).astype(np.float32)


MOST_TEXTS = 256
"""Texts in one request."""

MOST_CHARACTERS = 200_000
"""Characters in one request. OpenAI takes 300,000 tokens; a character is one at most in nearly all writing."""

LONGEST_TEXT = 8_000
"""Characters of a text that are sent; the rest does not count. OpenAI refuses a text of more than 8,192 tokens."""

_NOTHING = "(nothing)"
"""Sent for a text without words, which OpenAI refuses."""


class Server(Protocol):
    """A model that answers in OpenAI's protocol. Its text names it and where it is; safe for many threads."""

    @property
    def model(self) -> str: ...

    def ask(self, texts: Sequence[str], *, dimensions: int | None) -> bytes:
        """The body that is answered to *texts*. Raises what `Embedder.embed` raises."""
        ...


class RemoteEmbedder:
    """A server's model, which may be shared by threads. Many texts take several requests, one after the other.

    Where no *dimensions* are set, the first answer tells them, and `id` and `dim` ask for one if there was none. A
    model is taken to give the same vectors wherever it is served: the id names the protocol, not the server.
    """

    def __init__(self, server: Server, *, dimensions: int | None = None) -> None:
        """Ask *server* for vectors of *dimensions* numbers, if given; not every model can be asked that."""
        self._server = server
        self._dimensions = dimensions
        self._found: dict[str, int] = {}

    @property
    def id(self) -> str:
        return f"openai:{self._server.model}@{self.dim}"

    @property
    def dim(self) -> int:
        if self._dimensions is None and not self._found:
            self.embed([_NOTHING])
        return self._dimensions or self._found["dim"]

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        found = [self._embedded(chunk) for chunk in _chunks([_sendable(text) for text in texts])]
        return np.vstack(found) if found else np.empty((0, self.dim), dtype=np.float32)

    def _embedded(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        body = self._server.ask(texts, dimensions=self._dimensions)
        try:
            rows = vectors(body, count=len(texts))
        except Unusable as error:
            raise Unavailable(f"{self._server} gave no vectors that can be used: {error}") from None
        return self._checked(rows)

    def _checked(self, rows: "NDArray[np.float32]") -> "NDArray[np.float32]":
        """*rows*, if they have the dimension that was set, or else that of the first answer.

        `setdefault` takes no lock, which a fork might find locked for ever.
        """
        found = rows.shape[1]
        expected = self._dimensions or self._found.setdefault("dim", found)
        if found != expected:
            raise Misconfigured(
                f"{self._server} answers with vectors of {found} numbers, not {expected}: the number that is set is "
                "not the model's, or another model goes by its name now; set what fits, and start again"
            )
        return rows


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
