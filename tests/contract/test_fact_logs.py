"""Promises of a fact log, on fakeredis and on a real server. Writes go through a bus."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from uuid import UUID

import numpy as np
import pytest
from builders import fact_rows
from builders.fact_rows import HOME, NOON
from builders.knowing import source
from builders.stores import WholeStore
from numpy.typing import NDArray

from nous.domain.effects import AppendFacts
from nous.domain.fact import Confirmed, Learned, Linked, LogVersion, Row, Superseded
from nous.domain.scope import Scope
from nous.store.base import NO_VECTORS, LogSlice

learned = partial(fact_rows.learned, embedded_by=None)


def unit(*numbers: float) -> NDArray[np.float32]:
    vector = np.array(numbers, dtype=np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def add(
    store: WholeStore, *rows: Row, scope: Scope = HOME, vectors: dict[UUID, NDArray[np.float32]] | None = None
) -> bool:
    """Whether they were appended to the log of *scope* as it is now."""
    expected = store.read(scope).version
    return store.write(AppendFacts(scope=scope, expected=expected, rows=rows, vectors=vectors or {}))


def with_vectors(
    count: int, *, embedder: str = "m", dim: int = 4, scope: Scope = HOME
) -> tuple[list[Row], dict[UUID, NDArray[np.float32]]]:
    """Learned rows, each with a vector of its own."""
    rows = [learned(f"{embedder} {number}", scope=scope, embedded_by=embedder) for number in range(count)]
    vectors = {row.fact.id: unit(*range(number + 1, number + 1 + dim)) for number, row in enumerate(rows)}
    return list(rows), vectors


def assert_same_vectors(found: LogSlice, expected: dict[UUID, NDArray[np.float32]]) -> None:
    assert found.vectors.keys() == expected.keys()
    for fact_id, vector in expected.items():
        np.testing.assert_array_equal(found.vectors[fact_id], vector)


def test_rows_of_every_kind_are_read_as_they_were_appended(store: WholeStore) -> None:
    first, second = learned("the port is 6380", embedded_by="m"), learned("the port is 6379")
    rows = (
        first,
        second,
        Confirmed(fact_id=first.fact.id, source=source("s2"), text="Port 6380", reason="exact", at=NOON),
        Superseded(fact_id=second.fact.id, by=first.fact.id, reason="number", at=NOON, similarity=0.97),
        Linked(fact_id=first.fact.id, other=second.fact.id, reason="number", at=NOON, similarity=0.91),
    )
    vector = unit(1, 2, 3)
    assert add(store, *rows, vectors={first.fact.id: vector})

    found = store.read(HOME)
    assert found.rows == rows
    assert found.version.n == 5
    assert_same_vectors(found, {first.fact.id: vector})


def test_a_reader_of_another_log_gets_everything(store: WholeStore) -> None:
    add(store, learned("a"), learned("b"))
    seen = store.read(HOME).version

    for other in (replace(seen, chain="0" * 32), replace(seen, epoch=1), replace(seen, n=seen.n + 1)):
        found = store.read(HOME, after=other)
        assert found.complete
        assert found.rows == (learned("a"), learned("b"))


def test_a_stale_append_is_refused_and_leaves_nothing(store: WholeStore) -> None:
    stale = store.read(HOME).version
    add(store, learned("a"))
    append = AppendFacts(scope=HOME, expected=stale, rows=(learned("b"),))

    assert not store.write(append)
    assert store.read(HOME).rows == (learned("a"),)


def test_an_append_without_rows_still_says_whether_it_is_stale(store: WholeStore) -> None:
    append = AppendFacts(scope=HOME, expected=LogVersion(), rows=())

    assert store.write(append)
    assert store.read(HOME).version == LogVersion()
    add(store, learned("a"))
    assert not store.write(append)


# A fake copies the whole block for each vector, which takes a minute.
@pytest.mark.parametrize("client", ["server"], indirect=True)
def test_an_append_may_be_larger_than_a_block_and_than_a_command(store: WholeStore) -> None:
    rows, vectors = with_vectors(4200)
    assert add(store, *rows, vectors=vectors)

    found = store.read(HOME)
    assert list(found.rows) == rows
    assert_same_vectors(found, vectors)


def test_appenders_that_race_lose_nothing_and_append_nothing_twice(store: WholeStore) -> None:
    texts = [f"fact {number}" for number in range(40)]

    def append_until_accepted(text: str) -> None:
        while not add(store, learned(text)):
            pass

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append_until_accepted, texts))

    found = [row.fact.text for row in store.read(HOME).rows if isinstance(row, Learned)]
    assert sorted(found) == sorted(texts)


def test_a_log_is_read_some_rows_at_a_time(store: WholeStore) -> None:
    rows, vectors = with_vectors(5)
    add(store, *rows, learned("a"), vectors=vectors)
    whole = store.read(HOME)

    read: list[Row] = []
    after: LogVersion | None = None
    for _ in range(4):
        page = store.read(HOME, after=after, limit=2)
        assert page.complete == (after is None)
        read.extend(page.rows)
        after = page.version

    assert tuple(read) == whole.rows
    assert after == whole.version


def test_a_page_ends_at_the_version_that_the_log_had_then(store: WholeStore) -> None:
    rows, vectors = with_vectors(3)
    add(store, *rows[:2], vectors={row.fact.id: vectors[row.fact.id] for row in rows[:2] if isinstance(row, Learned)})
    then = store.read(HOME).version
    add(store, rows[2], vectors={row.fact.id: vectors[row.fact.id] for row in rows[2:] if isinstance(row, Learned)})

    assert store.read(HOME, limit=2).version == then


def test_rows_can_be_read_without_vectors(store: WholeStore) -> None:
    rows, vectors = with_vectors(2)
    add(store, *rows, vectors=vectors)

    found = store.read(HOME, embedder=NO_VECTORS)

    assert (list(found.rows), dict(found.vectors)) == (rows, {})
