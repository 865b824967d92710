"""Laws of the fact log, in memory and in Redis: what holds for every history, not only for those we thought of."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID, uuid5

import fakeredis
import numpy as np
import pytest
from builders.fact_rows import NOON, learned
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nous.bus.base import Bus, Committed
from nous.bus.memory.bus import MemoryBus
from nous.bus.redis.bus import RedisBus
from nous.domain.effects import AppendFacts, Effects
from nous.domain.episode import NAMESPACE
from nous.domain.fact import Fact, Learned, Linked, LogVersion, Row
from nous.domain.scope import Scope
from nous.store.base import FactLog, LogSlice
from nous.store.keys import StoreKeys
from nous.store.memory import MemoryStore
from nous.store.redis.fact_log import RedisFactLog
from nous.store.redis.plans import plan_for

HERE = Scope()
DIMS = {"small": 2, "large": 5}

Vectors = dict[UUID, NDArray[np.float32]]


@dataclass(frozen=True)
class Sketch:
    """A row to be: a fact with a text, and perhaps a vector; or, with no text, a link."""

    text: str
    embedder: str | None


@dataclass(frozen=True)
class World:
    """A fact log, and the bus that writes it."""

    facts: FactLog
    bus: Bus

    def append(self, sketches: Sequence[Sketch]) -> bool:
        rows = tuple(rows_of(sketches))
        append = AppendFacts(scope=HERE, expected=self.facts.read(HERE).version, rows=rows, vectors=vectors_of(rows))
        return isinstance(self.bus.apply(Effects(writes=(append,))), Committed)


def in_memory() -> World:
    store = MemoryStore()
    return World(store, MemoryBus(store.apply))


def on_redis() -> World:
    client = fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)
    keys = StoreKeys()
    return World(RedisFactLog(client, keys), RedisBus(client, plan_of=partial(plan_for, keys=keys)))


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


worlds = pytest.mark.parametrize("new_world", [in_memory, on_redis])
sketches = st.builds(Sketch, st.text(max_size=8), st.sampled_from([None, *DIMS]))
batches = st.lists(sketches, min_size=1, max_size=5, unique_by=lambda sketch: sketch.text or id(sketch))
histories = st.lists(batches, max_size=5)
scopes = st.builds(
    Scope, *[st.text("a:%/3A é", min_size=1, max_size=4).filter(lambda part: "/" not in part and part.strip())] * 3
)


@worlds
@given(history=histories, reads=st.sets(st.integers(0, 5)))
@settings(deadline=None)
def test_what_is_read_bit_by_bit_is_what_is_read_at_once(
    new_world: Callable[[], World], history: list[list[Sketch]], reads: set[int]
) -> None:
    world = new_world()
    rows: list[Row] = []
    vectors: dict[UUID, bytes] = {}
    seen = LogVersion()
    for moment, batch in enumerate([*history, []]):
        if moment in reads or moment == len(history):
            found = world.facts.read(HERE, after=seen)
            assert found.complete == (seen.n == 0)
            rows.extend(found.rows)
            vectors |= shown(found)[1]
            seen = found.version
        assert world.append(batch)

    whole = world.facts.read(HERE)
    assert (tuple(rows), vectors, seen) == (*shown(whole), whole.version)
    assert whole.version.n == len(whole.rows)
    assert list(whole.rows) == rows_of(sketch for batch in history for sketch in batch)


@worlds
@given(kept=st.lists(sketches, max_size=4), lost=batches, others=batches)
@settings(deadline=None)
def test_a_log_that_lost_its_end_and_grew_again_is_read_from_the_start(
    new_world: Callable[[], World], kept: list[Sketch], lost: list[Sketch], others: list[Sketch]
) -> None:
    """A power cut takes the end of the log. What grows back, of any length, must not pass for what was lost."""
    before, after = new_world(), new_world()
    for sketch in kept:
        assert before.append([sketch])
        assert after.append([sketch])
    assert before.append(lost)
    assert after.append(others)
    seen = before.facts.read(HERE).version

    found = after.facts.read(HERE, after=seen)

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
