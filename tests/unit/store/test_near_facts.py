"""Which facts a process finds near a vector, whatever was added, superseded or rewritten meanwhile."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from builders.fact_rows import HOME, Named, Vector, append, clustered, learn, learned, superseded, unit
from builders.stores import WholeStore
from hypothesis import assume, given
from hypothesis import strategies as st

from nous.domain.fact import Embedded, LogVersion
from nous.domain.scope import Scope
from nous.embedding.base import Embedder
from nous.knowledge.fact_index import FactIndex
from nous.store.fact_cache import FactCache
from nous.store.keys import StoreKeys

TEA, RUM, FAR = unit(1, 0), unit(1, 0.1), unit(0, 0, 1)


@dataclass
class Place:
    """A log, and processes that judge by it."""

    store: WholeStore = field(default_factory=WholeStore)

    def process(self) -> FactCache:
        """A process that knows nothing yet."""
        return FactCache()

    def near(
        self,
        vector: Vector,
        floor: float = 0.5,
        *,
        process: FactCache | None = None,
        scope: Scope = HOME,
        embedder: Embedder = Named(),  # noqa: B008  (it is frozen)
    ) -> list[str]:
        """What a process finds, a new one where none is given."""
        with (process or self.process()).current(self.store, scope, embedder) as knowledge:
            return [found.statement.text for found in knowledge.near(vector, floor)]


@pytest.fixture
def place() -> Place:
    """A log that has nothing yet."""
    return Place()


def test_the_nearest_come_first_and_nothing_below_the_floor(place: Place) -> None:
    learn(place.store, {"rum": RUM, "tea": TEA, "far": FAR})

    assert place.near(TEA) == ["tea", "rum"]
    assert place.near(TEA, 0.999) == ["tea"]
    assert place.near(unit(0, 0, 0, 1)) == []


def test_what_is_current_again_is_near_again(place: Place) -> None:
    process, gone = place.process(), superseded("tea", by="rum")
    learn(place.store, {"tea": TEA, "rum": RUM})
    append(place.store, gone)
    assert place.near(TEA, process=process) == ["rum"]

    append(place.store, replace(gone, is_undone=True))

    assert place.near(TEA, process=process) == place.near(TEA) == ["tea", "rum"]
    append(place.store, gone)
    assert place.near(TEA, process=process) == place.near(TEA) == ["rum"]


def test_what_was_added_since_is_near_to_every_process(place: Place) -> None:
    one, two = place.process(), place.process()
    learn(place.store, {"tea": TEA})
    assert place.near(TEA, process=one) == place.near(TEA, process=two) == ["tea"]

    learn(place.store, {"rum": RUM})

    assert place.near(TEA, process=one) == place.near(TEA, process=two) == ["tea", "rum"]


def test_a_vector_that_comes_later_is_near_from_then_on(place: Place) -> None:
    process, row = place.process(), learned("tea", embedded_by=None)
    append(place.store, row)
    with process.current(place.store, HOME, Named()) as knowledge:
        assert [known.fact.text for known in knowledge.without_vector()] == ["tea"]

    append(place.store, Embedded(fact_id=row.fact.id, embedded_by="m"), vectors={"tea": TEA})

    assert place.near(TEA, process=process) == ["tea"]
    with place.process().current(place.store, HOME, Named()) as knowledge:
        assert list(knowledge.without_vector()) == []


def test_a_branch_finds_what_it_has_learned_itself_too(place: Place) -> None:
    learn(place.store, {"tea": TEA})

    with place.process().current(place.store, HOME, Named()) as knowledge:
        branch, row = knowledge.fork(), learned("rum")
        branch.prefetch_neighbors([TEA], 0.5)
        branch.extend([row], {row.fact.id: RUM})

        assert [near.statement.text for near in branch.near(TEA, 0.5)] == ["tea", "rum"]


def test_a_rewritten_log_is_searched_as_it_is_now(place: Place) -> None:
    process = place.process()
    learn(place.store, {"tea": TEA, "rum": RUM})
    assert place.near(TEA, process=process) == ["tea", "rum"]

    begin_anew(place, epoch=1)
    learn(place.store, {"rum": RUM})

    assert place.near(TEA, process=process) == place.near(TEA) == ["rum"]


def test_a_log_that_lost_its_end_and_grew_again_is_searched_as_it_is_now(place: Place) -> None:
    behind, ahead = place.process(), place.process()
    learn(place.store, {"far": FAR})
    assert place.near(FAR, process=behind) == ["far"]
    learn(place.store, {"tea": TEA})
    assert place.near(TEA, process=ahead) == ["tea"]

    begin_anew(place)
    learn(place.store, {"far": FAR})
    learn(place.store, {"rum": RUM})

    assert [place.near(TEA, process=process) for process in (behind, ahead, place.process())] == [["rum"]] * 3


def begin_anew(place: Place, *, epoch: int = 0) -> None:
    """Leave an empty log, as after a power failure that took it all, or an erasure."""
    place.store.client.flushall()
    if epoch:
        place.store.client.set(StoreKeys().fact_head(HOME), str(LogVersion(epoch=epoch)))


@given(
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(["learn", "supersede"])), max_size=60), st.floats(0.1, 0.99)
)
def test_what_the_exact_index_proposes_and_the_fold_lets_pass_is_all_that_is_near(
    steps: list[tuple[int, str]], floor: float
) -> None:
    vectors = clustered(41, dim=8, per_cluster=8)
    assume(np.abs(vectors @ vectors[:5].T - floor).min() > 1e-5)  # sums in another order may differ
    knowledge = FactIndex(embedder_id="m", dim=8)
    for number, step in steps:
        row = learned(f"fact {number}")
        if step == "learn" and knowledge.get(row.fact.id) is None:
            knowledge.extend([row], {row.fact.id: vectors[number]})
        elif step == "supersede":
            knowledge.extend([superseded(row.fact.text, by="fact 0")], {})

    for asked in vectors[:5]:
        expected = {
            known.fact.id for known in knowledge.current() if vectors[int(known.fact.text.split()[1])] @ asked >= floor
        }
        assert {near.fact_id for near in knowledge.near(asked, floor)} == expected
