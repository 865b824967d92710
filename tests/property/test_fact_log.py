"""Laws of the fact log: what holds for every history, not only for those we thought of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

import numpy as np
from builders.fact_rows import NOON, learned
from builders.stores import WholeStore
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nous.domain.effects import AppendFacts
from nous.domain.episode import NAMESPACE
from nous.domain.fact import Fact, Learned, Linked, LogVersion, Row
from nous.domain.scope import Scope
from nous.store.base import LogSlice
from nous.store.keys import StoreKeys

HERE = Scope()
DIMS = {"small": 2, "large": 5}

Vectors = dict[UUID, NDArray[np.float32]]


@dataclass(frozen=True)
class Sketch:
    """A row to be: a fact with a text, and perhaps a vector; or, with no text, a link."""

    text: str
    embedder: str | None


ONE, OTHER = WholeStore(), WholeStore()


def emptied(store: WholeStore) -> WholeStore:
    store.client.flushall()
    return store


def append(store: WholeStore, sketches: Sequence[Sketch]) -> bool:
    rows = tuple(rows_of(sketches))
    append = AppendFacts(scope=HERE, expected=store.read(HERE).version, rows=rows, vectors=vectors_of(rows))
    return store.apply([append]) is None


def rows_of(sketches: Iterable[Sketch]) -> list[Row]:
    return list(map(row_of, sketches))


def row_of(sketch: Sketch) -> Row:
    fact_id = uuid5(NAMESPACE, sketch.text)
    if not sketch.text:
        return Linked(fact_id=fact_id, other=fact_id, reason="near", at=NOON)
    return learned(sketch.text, embedded_by=sketch.embedder, scope=HERE)


def vectors_of(rows: Iterable[Row]) -> Vectors:
    taught = [row for row in rows if isinstance(row, Learned)]
    return {row.fact.id: vector_of(row.fact, row.embedded_by) for row in taught if row.embedded_by}


def vector_of(fact: Fact, embedder: str) -> NDArray[np.float32]:
    random = np.random.default_rng(fact.id.int % 2**32)
    return random.standard_normal(DIMS[embedder]).astype(np.float32)


def shown(found: LogSlice) -> tuple[Sequence[Row], dict[UUID, bytes]]:
    return found.rows, {fact_id: vector.tobytes() for fact_id, vector in found.vectors.items()}


sketches = st.builds(Sketch, st.text(max_size=8), st.sampled_from([None, *DIMS]))
batches = st.lists(sketches, min_size=1, max_size=5, unique_by=lambda sketch: sketch.text or id(sketch))
histories = st.lists(batches, max_size=5)
scopes = st.builds(
    Scope, *[st.text("a:%/3A é", min_size=1, max_size=4).filter(lambda part: "/" not in part and part.strip())] * 3
)


@given(history=histories, reads=st.sets(st.integers(0, 5)))
@settings(deadline=None)
def test_what_is_read_bit_by_bit_is_what_is_read_at_once(history: list[list[Sketch]], reads: set[int]) -> None:
    log = emptied(ONE)
    rows: list[Row] = []
    vectors: dict[UUID, bytes] = {}
    seen = LogVersion()
    for moment, batch in enumerate([*history, []]):
        if moment in reads or moment == len(history):
            found = log.read(HERE, after=seen)
            assert found.complete == (seen.n == 0)
            rows.extend(found.rows)
            vectors |= shown(found)[1]
            seen = found.version
        assert append(log, batch)

    whole = log.read(HERE)
    assert (tuple(rows), vectors, seen) == (*shown(whole), whole.version)
    assert whole.version.n == len(whole.rows)
    assert list(whole.rows) == rows_of(sketch for batch in history for sketch in batch)


@given(kept=st.lists(sketches, max_size=4), lost=batches, others=batches)
@settings(deadline=None)
def test_a_log_that_lost_its_end_and_grew_again_is_read_from_the_start(
    kept: list[Sketch], lost: list[Sketch], others: list[Sketch]
) -> None:
    """A power cut takes the end of the log. What grows back, of any length, must not pass for what was lost."""
    before, after = emptied(ONE), emptied(OTHER)
    for sketch in kept:
        assert append(before, [sketch])
        assert append(after, [sketch])
    assert append(before, lost)
    assert append(after, others)
    seen = before.read(HERE).version

    found = after.read(HERE, after=seen)

    lost_rows, other_rows = rows_of(lost), rows_of(others)
    continues = other_rows[: len(lost)] == lost_rows
    assert found.complete != continues
    assert list(found.rows) == (other_rows[len(lost) :] if continues else rows_of(kept) + other_rows)


@given(one=scopes, other=scopes, session=st.text(max_size=6), embedder=st.text(max_size=6))
def test_no_key_belongs_to_two_scopes(one: Scope, other: Scope, session: str, embedder: str) -> None:
    def names(scope: Scope) -> set[str]:
        keys = StoreKeys()
        return {
            keys.episodes(scope),
            keys.episode_versions(scope),
            keys.episodes_by_end(scope),
            keys.fact_head(scope),
            keys.fact_rows(scope),
            keys.fact_vectors(scope, embedder, dim=2, block=0),
            keys.transcript(scope, session, digest="d"),
        }

    assert len(names(one)) == 7
    assert (names(one) & names(other) != set()) == (one == other)
    assert StoreKeys().transcript(other, session, digest="d").startswith(StoreKeys().transcripts_of(one)) == (
        one == other
    )
