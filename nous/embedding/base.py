"""Define the `Embedder` protocol (text to unit vectors), two stand-ins that fail; a cache."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import structlog

from nous.domain.errors import Deferred, Misconfigured, Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Port to a model that maps texts to unit vectors, so that a dot product is a cosine.

    The same text gives the same vector in any batch, up to rounding. Vectors of different ids are never compared.
    """

    @property
    def id(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return float32 of shape (len(texts), dim), each row of length 1.

        Raises:
            Unavailable: the model did not answer, or sent nothing usable.
            Deferred: it said when to retry.
            BadInput: it rejects one of these texts.
            Misconfigured: the model is not installed, or is not the expected one.
        """
        ...


log = structlog.get_logger(__name__)


class MissingEmbedder:
    """Null object for an embedder that is down: no vectors, so only equal texts are the same."""

    id = "absent"
    dim = 1

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        raise Unavailable(f"there is no embedder for {len(texts)} texts")


def present(embedder: Embedder) -> Embedder:
    """Return *embedder*, or a `MissingEmbedder` if it must answer to tell its id, and does not."""
    try:
        _ = embedder.id, embedder.dim
    except (Unavailable, Deferred) as error:
        log.warning("embedder.unavailable", reason=str(error), hint="texts are compared by their words alone")
        return MissingEmbedder()
    return embedder


class UnavailableEmbedder:
    """Stand-in for a misconfigured embedder: a process that needs no vectors can start."""

    def __init__(self, problem: Misconfigured) -> None:
        self._problem = problem

    @property
    def id(self) -> str:
        raise self._problem

    @property
    def dim(self) -> int:
        raise self._problem

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":  # noqa: ARG002 (as the port calls it)
        raise self._problem


class CachedEmbedder:
    """Caches the vectors of the last *size* texts: 4,096 vectors of 384 numbers are 6 MB.

    Judging again after a conflict then costs no embedding. Thread-safe; two threads that miss the same text at once
    both compute it.
    """

    def __init__(self, embedder: Embedder, *, size: int = 4096) -> None:
        self._embedder = embedder
        self._size = size
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()

    @property
    def id(self) -> str:
        return self._embedder.id

    @property
    def dim(self) -> int:
        return self._embedder.dim

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np  # noqa: PLC0415 (only vectors need it)

        known = self._recall(texts)
        missing = tuple(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            fresh = dict(zip(missing, self._embedder.embed(missing), strict=True))
            known |= fresh
            with self._lock:
                self._kept |= {text: vector.copy() for text, vector in fresh.items()}
                while len(self._kept) > self._size:
                    self._kept.popitem(last=False)
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(len(texts), self.dim)

    def _recall(self, texts: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        with self._lock:
            found = {text: self._kept[text] for text in texts if text in self._kept}
            for text in found:
                self._kept.move_to_end(text)
        return found
