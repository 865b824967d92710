"""An embedder that does not always answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nous.domain.errors import BadInput, Unavailable
from nous.embedding.hashing import HashingEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Moody(HashingEmbedder):
    """An embedder that can be switched off, and refuses texts with a word."""

    def __init__(self, *, dim: int = 256, refuses: str = "") -> None:
        super().__init__(dim=dim)
        self.is_out = False
        self._refuses = refuses

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        if self.is_out:
            raise Unavailable("the embedder is out")
        if self._refuses and any(self._refuses in text for text in texts):
            raise BadInput("it will not take one of these texts")
        return super().embed(texts)
