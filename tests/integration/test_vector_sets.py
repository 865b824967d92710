"""Vector sets on real servers: what they find of what an exact search finds, and what may befall them."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
import redis
from builders import vector_server
from builders.fact_rows import HOME, Vector, clustered, fact_id, learn, unit
from click.testing import CliRunner

from nous.app.container import build
from nous.cli import main
from nous.domain.errors import Misconfigured
from nous.domain.fact import LogVersion
from nous.domain.scope import Scope
from nous.knowledge.candidate_index import IndexUnavailable
from nous.knowledge.vector_scan import ExactScanIndex
from nous.redis_server.client import Engine
from nous.settings.model import IndexSettings, Settings
from nous.store.base import NO_VECTORS, LogSlice
from nous.store.keys import StoreKeys
from nous.store.memory import MemoryStore
from nous.store.redis.vector_sets import VectorSet, VectorSets

FACTS = int(os.environ.get("RECALL_FACTS", "1500"))
KEYS = StoreKeys("t")
TEA, RUM = unit(1, 0), unit(1, 0.1)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with vector_server.alone() as address:
        yield address


@pytest.fixture
def client(url: str) -> Iterator[redis.Redis]:
    """A client of the server, with nothing on it."""
    with redis.Redis.from_url(url, protocol=2) as found:
        found.flushall()
        yield found


@pytest.fixture
def store(client: redis.Redis) -> MemoryStore:
    """A log with one fact, whose index is empty."""
    assert client.ping()
    found = MemoryStore()
    learn(found, {"tea": TEA})
    return found


def settings(url: str) -> Settings:
    return Settings(prefix="t", index=IndexSettings(engine="vector-sets", url=url))


def sets_of(url: str, store: MemoryStore) -> VectorSets:
    return VectorSets(Engine(settings(url)), KEYS, store)


def set_of(url: str, store: MemoryStore, *, dim: int = 8) -> VectorSet:
    return sets_of(url, store).of(HOME, embedder="m", dim=dim)


def near(index: VectorSet, vector: Vector, floor: float = 0.5, *, store: MemoryStore) -> list[str]:
    """The texts of the log that are proposed."""
    rows = store.read(HOME)
    [found] = index.near(vector[np.newaxis, :], floor, at=rows.version)
    texts = {fact_id(text): text for text in ("tea", "rum", "gin")}
    return [texts.get(proposed, str(proposed)) for proposed, _ in found]


def test_of_what_is_nearest_at_the_threshold_all_but_nothing_is_missed(url: str, client: redis.Redis) -> None:
    client.flushall()
    vectors = clustered(FACTS, dim=384)
    store, exact = MemoryStore(), ExactScanIndex(384)
    learn(store, {f"fact {number}": vector for number, vector in enumerate(vectors)})
    for number, vector in enumerate(vectors):
        exact.add(fact_id(f"fact {number}"), vector)
    asked = vectors[:400] + np.random.default_rng(2).normal(size=(400, 384)).astype(np.float32) * np.float32(0.02)
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    version = store.read(HOME, embedder=NO_VECTORS).version

    expected = [list(found) for found in exact.near(asked, 0.8, at=version)]
    found = [list(found) for found in set_of(url, store, dim=384).near(asked, 0.8, at=version)]

    first = [(one[:1], other[:1]) for one, other in zip(expected, found, strict=True) if one]
    hits = sum(one[0][0] == other[0][0] for one, other in first if other)
    print(f"\nrecall@1 of {len(first)} that have a neighbour among {FACTS}: {hits / len(first):.4f}")
    assert hits / len(first) >= 0.99
    assert all(one[0][1] == pytest.approx(other[0][1], abs=1e-5) for one, other in first if other)


def test_a_set_that_fell_back_catches_up(url: str, client: redis.Redis, store: MemoryStore) -> None:
    near(set_of(url, store), TEA, store=store)
    names = KEYS.candidates(HOME, "m", dim=8)
    before = [client.dump(name) for name in names]
    learn(store, {"rum": RUM})
    ahead = set_of(url, store)
    assert near(ahead, TEA, store=store) == ["tea", "rum"]

    for name, content in zip(names, before, strict=True):
        assert content
        client.restore(name, 0, content, replace=True)

    assert near(ahead, TEA, store=store) == ["tea", "rum"]


def test_whoever_has_read_a_log_before_it_was_erased_writes_none_of_it(
    url: str, client: redis.Redis, store: MemoryStore
) -> None:
    class Erased(MemoryStore):
        """A log that is rewritten, and its index erased, just after its first page was read."""

        sets: VectorSets

        def read(self, scope: Scope, **options: Any) -> LogSlice:
            page = store.read(scope, **options)
            if page.version.epoch == 0:
                logs = vars(store)["_logs"]
                logs[scope] = type(logs[scope])(version=LogVersion(epoch=1))
                learn(store, {"rum": RUM})
                self.sets.erase(scope)
            return page

    erased = Erased()
    erased.sets = sets_of(url, store)
    near(set_of(url, store), TEA, store=store)
    learn(store, {"gin": RUM})

    set_of(url, erased).caught_up()

    name, _ = KEYS.candidates(HOME, "m", dim=8)
    assert client.execute_command("VCARD", name) == 1
    assert near(set_of(url, store), TEA, store=store) == ["rum"]


def test_processes_that_catch_up_at_once_leave_one_whole_set(url: str, client: redis.Redis) -> None:
    client.flushall()
    store = MemoryStore()
    learn(store, {f"fact {number}": vector for number, vector in enumerate(clustered(600, dim=8))})
    asked, version = clustered(3, dim=8), store.read(HOME, embedder=NO_VECTORS).version
    indexes = [set_of(url, store) for _ in range(8)]

    def proposed(index: VectorSet) -> list[list[tuple[UUID, float]]]:
        return [list(each) for each in index.near(asked, 0.7, at=version)]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(proposed, indexes))

    assert all(each == found[0] for each in found)
    assert client.execute_command("VCARD", KEYS.candidates(HOME, "m", dim=8)[0]) == 600


def test_an_index_that_does_not_answer_is_unavailable() -> None:
    store = MemoryStore()
    learn(store, {"tea": TEA})
    with vector_server.alone() as address:
        index = set_of(address, store)
        assert near(index, TEA, store=store) == ["tea"]

    with pytest.raises(IndexUnavailable):
        near(index, TEA, store=store)


def test_a_server_without_vector_sets_is_refused_by_name(directory: Path) -> None:
    with (
        closing(build(Settings(data_dir=directory, index=IndexSettings(engine="vector-sets")))) as container,
        pytest.raises(Misconfigured, match=r"no vector sets.*index.url"),
    ):
        _ = container.memory


def test_the_index_of_a_scope_is_built_anew_by_one_command(url: str, client: redis.Redis, directory: Path) -> None:
    client.flushall()
    environment = {
        "NOUS_DATA_DIR": str(directory),
        "NOUS_EMBEDDER": "hashed",
        "NOUS_INDEX__ENGINE": "vector-sets",
        "NOUS_INDEX__URL": url,
    }
    run = CliRunner(env=environment)
    learned = run.invoke(
        main, ["facts", "learn", "--scope", "home"], input='"Tim likes tea"\n"Redis listens on 6379"\n'
    )
    assert learned.exit_code == 0, learned.output
    client.flushall()

    said = run.invoke(main, ["reindex"])

    assert said.exit_code == 0, said.output
    assert said.output.split()[-2:] == [str(HOME), "2"]
    sizes = [client.execute_command("VCARD", key) for key in client.scan_iter("nous:candidates:*")]
    assert sizes == [2]
