"""Index the fact log's vectors in Redis 8 vector sets, and search these for near facts.

Each set has a watermark. One script changes both, and only if the watermark is the one that the writer has seen. A late
writer thus writes nothing: neither from a log that was rewritten since, nor into a set that was rebuilt. A process that
is about to compare facts first brings the set up to the log, some rows at a time. Superseded facts stay in it, as they
do in memory, since they may become current again; `FactIndex` drops them from results. A search result is valid if
afterwards the set is still of the same generation, not behind, and as large as its watermark says. A set that was lost,
evicted or cut short by a power failure is rebuilt, and never searched as if it were complete.

Vectors are stored as float32. With one byte a number they would take half the memory (1.2 kB a fact with its links
instead of 2.3), but cosines would be off by .002, and every proposal would have to be fetched from the log to be scored
again.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from redis import exceptions

from nous.domain.errors import Fatal, Retryable, Unavailable
from nous.domain.fact import LogVersion
from nous.domain.scope import Scope
from nous.knowledge.candidate_index import IndexUnavailable, Proposals
from nous.redis_support.errors import translated
from nous.store.base import FactLog, LogSlice
from nous.store.keys import StoreKeys

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class IndexWatermark:
    """Generation of an index (each begins empty), the log version it has, and its size then."""

    generation: str
    version: LogVersion
    size: int = 0

    @property
    def begun(self) -> str:
        """All but the size, which the index itself reports."""
        return f"{self.generation} {self.version}"

    def __str__(self) -> str:
        return f"{self.begun} {self.size}"

    @classmethod
    def parse(cls, raw: bytes) -> Self | None:
        if not raw:
            return None
        generation, version, size = raw.decode().split(" ")
        return cls(generation, LogVersion.parse(version), int(size))

    def covers(self, earlier: Self) -> bool:
        """Return whether the index has held everything in *earlier* ever since."""
        return self.generation == earlier.generation and self.version.n >= earlier.version.n


ROWS_AT_ONCE = 16  # rows that one script call applies, 1 to 4 ms each: meanwhile the server does nothing else
MOST = 1000  # limit of facts proposed for one vector. To find as many, the engine examines as many of the nearest
_ATTEMPTS = 20
_ROUNDING = 1e-6


class VectorSets:
    """`CandidateIndexes` on the server of *client*, which must not decode, fed from *log*."""

    def __init__(self, client: Callable[[], Any], keys: StoreKeys, log: FactLog) -> None:
        self._client = client
        self._keys = keys
        self._log = log

    def of(self, scope: Scope, *, embedder: str, dim: int) -> "VectorSet":
        return VectorSet(self._client, self._keys.candidates(scope, embedder, dim=dim), self._log, scope, embedder)

    def rebuild(self, scope: Scope, *, embedder: str, dim: int) -> int:
        self.erase(scope)
        return self.of(scope, embedder=embedder, dim=dim).caught_up().size

    def erase(self, scope: Scope) -> int:
        sets, marks = self._keys.candidates_of(scope)
        with _answering():
            client = self._client()
            found = [key for start in (marks, sets) for key in client.scan_iter(match=f"{start}*", count=1000)]
            for key in found:
                client.unlink(key)
        return sum(key.startswith(sets.encode()) for key in found)


class VectorSet:
    """`CandidateIndex` of one scope and embedder."""

    def __init__(
        self, client: Callable[[], Any], keys: tuple[str, str], log: FactLog, scope: Scope, embedder: str
    ) -> None:
        self._client = client
        self._keys = keys
        self._log = log
        self._scope = scope
        self._embedder = embedder
        self._whole: tuple[LogVersion, IndexWatermark] | None = None

    def near(self, vectors: "NDArray[np.float32]", floor: float, *, at: LogVersion) -> Sequence[Proposals]:
        for _ in range(_ATTEMPTS):
            # A watermark of a later version is not enough: after a power failure it may cover rows that the log lost.
            known = self._whole[1] if self._whole and self._whole[0] == at else self.caught_up()
            self._whole = at, known
            found = self._searched(vectors, floor)
            mark, size = self._look()
            if mark and mark.covers(known) and mark.size == size:
                return found
            self._whole = None
        raise Retryable(f"the index of {self._scope} keeps being rebuilt; try again")

    def caught_up(self) -> IndexWatermark:
        """Bring the set up to the log; return its watermark. Raises as `CandidateIndex.near` does."""
        mark, size = self._look()
        while True:
            after = mark.version if mark else LogVersion()
            page = self._log.read(self._scope, after=after, embedder=self._embedder, limit=ROWS_AT_ONCE)
            if mark is None or mark.size != size or not _continues(page, mark):
                mark, size = self._advanced(
                    mark, IndexWatermark(token_hex(8), LogVersion(epoch=page.version.epoch)), "anew"
                )
                continue
            if page.rows:
                mark, size = self._advanced(mark, IndexWatermark(mark.generation, page.version), "", page)
            if mark and mark.version == page.version and len(page.rows) < ROWS_AT_ONCE:
                return mark

    def _advanced(
        self, seen: IndexWatermark | None, to: IndexWatermark, how: str, page: LogSlice | None = None
    ) -> tuple[IndexWatermark | None, int]:
        """Apply *page* if the watermark is still *seen*; return the current one and the size."""
        vectors = page.vectors if page else {}
        added = [part for fact_id, vector in vectors.items() for part in (vector.astype("<f4").tobytes(), str(fact_id))]
        mark = IndexWatermark.parse(self._run("advance", str(seen or ""), to.begun, how, *added))
        return mark, mark.size if mark else 0

    def _searched(self, vectors: "NDArray[np.float32]", floor: float) -> list[list[tuple[UUID, float]]]:
        bound = (1 - floor) / 2 + _ROUNDING  # a score is (1 + cosine) / 2; EPSILON is its distance from 1
        options = ("WITHSCORES", "COUNT", MOST, "EF", MOST, "EPSILON", bound)
        with _answering():
            pipe = self._client().pipeline(transaction=False)
            for vector in vectors:
                pipe.execute_command("VSIM", self._keys[0], "FP32", vector.astype("<f4").tobytes(), *options)
            answers: list[list[bytes]] = pipe.execute()
        scored = [zip(answer[::2], answer[1::2], strict=True) for answer in answers]
        return [[(UUID(name.decode()), 2 * float(score) - 1) for name, score in each] for each in scored]

    def _look(self) -> tuple[IndexWatermark | None, int]:
        mark, size = self._run("look")
        return IndexWatermark.parse(mark), size

    def _run(self, script: str, *arguments: str | bytes | int) -> Any:
        source = (resources.files("nous.store.redis") / "scripts" / f"{script}.lua").read_text("utf-8")
        with _answering():
            return self._client().eval(source, len(self._keys), *self._keys, *arguments)


def _continues(page: LogSlice, mark: IndexWatermark) -> bool:
    """Return whether *page* was read from the log that *mark* refers to."""
    if mark.version.n:
        return not page.complete
    return mark.version.epoch == page.version.epoch


@contextmanager
def _answering() -> Generator[None]:
    """Translate errors of redis-py, those of clusters too, into `IndexUnavailable`."""
    try:
        with translated():
            yield
    except (Unavailable, exceptions.RedisClusterException) as error:
        raise IndexUnavailable(f"the index did not answer: {error}") from error
    except Fatal as error:
        if isinstance(error.__cause__, exceptions.ClusterError):
            raise IndexUnavailable(f"the index did not answer: {error}") from error
        raise
