"""Which facts a process finds near a vector, whatever was added, superseded or rewritten meanwhile."""

from dataclasses import replace

import numpy as np
import pytest
from builders.fact_rows import HOME, Named, Vector, append, clustered, learn, learned, superseded, unit
from builders.stores import WholeStore
from hypothesis import assume, given
from hypothesis import strategies as st

from nous.domain.fact import Embedded
from nous.knowledge.fact_index import FactIndex
from nous.store.fact_cache import FactCache

TEA, RUM, FAR = unit(1, 0), unit(1, 0.1), unit(0, 0, 1)


@pytest.fixture
def store() -> WholeStore:
    return WholeStore()


def near(store: WholeStore, vector: Vector, process: FactCache | None = None) -> list[str]:
    """Return what a process finds, a new one where none is given."""
    with (process or FactCache()).current(store, HOME, Named()) as knowledge:
        return [found.statement.text for found in knowledge.near(vector, 0.5)]


def test_what_is_current_again_is_near_again(store: WholeStore) -> None:
    process, gone = FactCache(), superseded("tea", by="rum")
    learn(store, {"tea": TEA, "rum": RUM})
    append(store, gone)
    assert near(store, TEA, process) == ["rum"]

    append(store, replace(gone, is_undone=True))

    assert near(store, TEA, process) == near(store, TEA) == ["tea", "rum"]
    append(store, gone)
    assert near(store, TEA, process) == near(store, TEA) == ["rum"]


def test_a_vector_that_comes_later_is_near_from_then_on(store: WholeStore) -> None:
    process, row = FactCache(), learned("tea", embedded_by=None)
    append(store, row)
    with process.current(store, HOME, Named()) as knowledge:
        assert [known.fact.text for known in knowledge.without_vector()] == ["tea"]

    append(store, Embedded(fact_id=row.fact.id, embedded_by="m"), vectors={"tea": TEA})

    assert near(store, TEA, process) == ["tea"]
    with FactCache().current(store, HOME, Named()) as knowledge:
        assert list(knowledge.without_vector()) == []


def test_a_branch_finds_what_it_has_learned_itself_too(store: WholeStore) -> None:
    learn(store, {"tea": TEA})

    with FactCache().current(store, HOME, Named()) as knowledge:
        branch, row = knowledge.fork(), learned("rum")
        branch.prefetch_neighbors([TEA], 0.5)
        branch.extend([row], {row.fact.id: RUM})

        assert [near.statement.text for near in branch.near(TEA, 0.5)] == ["tea", "rum"]


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
