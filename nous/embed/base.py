"""The seam to whatever turns text into vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Maps texts to unit vectors, so that a dot product is a cosine. The same text gives the same vector, in any batch.

    Vectors of embedders with different ids must never be compared.
    """

    @property
    def id(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return float32 of shape (len(texts), dim), each row of length 1.

        Raises:
            Unavailable: the model did not answer, or with nothing that can be used.
            Deferred: it said when to come back.
            BadInput: it will not take one of these texts.
            Misconfigured: the model is not installed, or is not the one that was expected.
        """
        ...
