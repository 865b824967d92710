"""Protocols: search a vector index of facts; rebuild or drop the indexes of a scope."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from nous.domain.errors import Unavailable
from nous.domain.fact import LogVersion
from nous.domain.scope import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Proposals = Iterable[tuple[UUID, float]]
"""Facts with their cosines, nearest first; to be iterated once."""


class IndexUnavailable(Unavailable):
    """The index did not answer; the log may still be available."""


class CandidateIndex(Protocol):
    """Port to a vector index that proposes near facts of one scope, for one embedder.

    An early or stale proposal does no harm, since `FactIndex` drops it. A fact that is not proposed may be learned
    twice. So an answer is given for a version of the log: every fact that had a vector then was searched, and an index
    that lags catches up first. The commit checks that the log still has this version.
    """

    def near(self, vectors: "NDArray[np.float32]", floor: float, *, at: LogVersion) -> Sequence[Proposals]:
        """Return facts whose cosine with a row of *vectors* is >= *floor*, for each row.

        The rows are unit vectors. The facts are those of the log at version *at*. Raises `IndexUnavailable` if the
        index did not answer, so only texts can be compared, and `Retryable` if the log or the index was rebuilt
        meanwhile.
        """
        ...


class CandidateIndexes(Protocol):
    """Vector indexes of every scope and embedder, outside of this process."""

    def of(self, scope: Scope, *, embedder: str, dim: int) -> CandidateIndex: ...

    def rebuild(self, scope: Scope, *, embedder: str, dim: int) -> int:
        """Rebuild the index of *scope* from its log; return its size. Raises what `near` raises."""
        ...

    def erase(self, scope: Scope) -> int:
        """Remove every index of *scope*; return how many there were.

        Remove erased facts from the log first: an index that is needed later is rebuilt from what is left there. Raises
        `IndexUnavailable` if the index did not answer.
        """
        ...
