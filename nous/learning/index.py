"""The seam to whatever finds facts by their vectors."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from nous.errors import Unavailable
from nous.fact import LogVersion
from nous.scope import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Proposals = Iterable[tuple[UUID, float]]
"""Facts and the cosine of each, nearest first; to be gone through once."""


class IndexUnavailable(Unavailable):
    """The index did not answer; the log may all the same."""


class CandidateIndex(Protocol):
    """Proposes which facts of one scope are near, by the vectors of one embedder.

    An index proposes, the fold of the log disposes: `Knowledge` drops what it does not know and what is superseded, so
    what is proposed too early, or still, does no harm. What is not proposed may be learned twice. So an answer is given
    for a version of the log: every fact that had a vector then has been searched, and an index that lags catches up
    first. Whether that version is still the log's when the verdict is written, the commit decides.
    """

    def near(self, vectors: "NDArray[np.float32]", floor: float, *, at: LogVersion) -> Sequence[Proposals]:
        """For each row of *vectors*, unit vectors, the facts of the log at *at* whose cosine with it is >= *floor*.

        Raises:
            IndexUnavailable: the index did not answer; only texts can be compared.
            Retryable: the log or the index was made anew meanwhile.
        """
        ...


class CandidateIndexes(Protocol):
    """The indexes of every scope and embedder, kept outside of this process."""

    def of(self, scope: Scope, *, embedder: str, dim: int) -> CandidateIndex: ...

    def rebuild(self, scope: Scope, *, embedder: str, dim: int) -> int:
        """Index *scope* anew from its log, and say how many facts are searched then.

        Raises what `CandidateIndex.near` raises.
        """
        ...

    def erase(self, scope: Scope) -> int:
        """Remove every index of *scope*, and say how many there were.

        What has to be forgotten is first taken from the log: whoever needs an index then builds it from what is left.

        Raises:
            IndexUnavailable: the index did not answer.
        """
        ...
