"""The embedder in the place of one that cannot be asked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nous.errors import Misconfigured

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
