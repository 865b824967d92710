"""The embedder in the place of one that cannot even say who it is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nous.errors import Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Absent:
    """Makes no vectors, and has none to compare with: with it, only equal texts are the same."""

    id = "absent"
    dim = 1

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        raise Unavailable(f"there is no embedder for {len(texts)} texts")
