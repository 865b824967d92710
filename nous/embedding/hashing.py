"""Embed texts without a model: hash words and their character trigrams into unit vectors."""

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
_EMPTY = "(nothing)"


class HashingEmbedder:
    """Embeds texts so that those with common words, or parts of words, are near.

    It knows nothing of meaning. It is for tests, and for machines where no model can be installed; there, search finds
    words and little else.
    """

    def __init__(self, *, dim: int = 256) -> None:
        self.id = f"hashed-{dim}"
        self.dim = dim

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        rows = [self._vector(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dim)

    def _vector(self, text: str) -> "NDArray[np.float64]":
        vector = np.zeros(self.dim)
        for word in _WORD.findall(text.casefold()):
            _add(vector, word, 1.0)
            padded = f"<{word}>"  # its trigrams bring `deploys` near `deployed`
            for start in range(len(padded) - 2):
                _add(vector, padded[start : start + 3], 0.3)
        if not vector.any():
            _add(vector, _EMPTY, 1.0)
        return vector / np.linalg.norm(vector)


def _add(vector: "NDArray[np.float64]", feature: str, weight: float) -> None:
    number = int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest(), "little")
    vector[(number >> 1) % len(vector)] += weight if number & 1 else -weight
