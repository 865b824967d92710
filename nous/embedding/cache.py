"""Wrap an embedder with an in-memory LRU cache of text vectors."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from nous.embedding.base import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
            self._keep(fresh)
            known |= fresh
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(len(texts), self.dim)

    def _recall(self, texts: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        with self._lock:
            found = {text: self._kept[text] for text in texts if text in self._kept}
            for text in found:
                self._kept.move_to_end(text)
        return found

    def _keep(self, vectors: "dict[str, NDArray[np.float32]]") -> None:
        with self._lock:
            self._kept |= {text: vector.copy() for text, vector in vectors.items()}
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
