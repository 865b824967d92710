"""The seam to whatever turns text into vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import structlog

from nous.domain.errors import Deferred, Misconfigured, Unavailable

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


class Unready:
    """Says what has to be changed, to those who need vectors. Whoever only publishes needs none."""

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
