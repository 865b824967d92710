"""The embedder in the place of one that cannot even say who it is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import structlog

from nous.embed.base import Embedder
from nous.errors import Deferred, Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = structlog.get_logger(__name__)


class Absent:
    """Makes no vectors, and has none to compare with: with it, only equal texts are the same."""

    id = "absent"
    dim = 1

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        raise Unavailable(f"there is no embedder for {len(texts)} texts")


def present(embedder: Embedder) -> Embedder:
    """*embedder*, or an `Absent` one where it cannot say who it is before it has answered once, and does not answer."""
    try:
        _ = embedder.id, embedder.dim
    except (Unavailable, Deferred) as error:
        log.warning("the embedder does not answer; texts are compared by their words alone", reason=str(error))
        return Absent()
    return embedder
