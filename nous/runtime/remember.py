"""What was paid for once in a delivery is not paid for again."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nous.embed.base import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class RememberingEmbedder:
    """An `Embedder` that keeps every vector it was ever asked for. It lives as long as one delivery."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[str, NDArray[np.float32]] = {}

    @property
    def id(self) -> str:
        return self._inner.id

    @property
    def dim(self) -> int:
        return self._inner.dim

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np  # noqa: PLC0415 (only processes that embed need it)

        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known.update(zip(missing, self._inner.embed(missing), strict=True))
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        return np.stack([self._known[text] for text in texts])
