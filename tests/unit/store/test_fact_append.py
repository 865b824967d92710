"""What may be appended to a fact log."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid5

import numpy as np
import pytest

from nous.domain.effects import AppendFacts
from nous.domain.episode import Category
from nous.domain.errors import BadInput, Misconfigured
from nous.domain.events import NAMESPACE
from nous.domain.fact import Fact, Learned, LogVersion, Source
from nous.domain.scope import Scope
from nous.store.fact_rows import continuation

ID = uuid5(NAMESPACE, "episode")


def learned(text: str, embedded_by: str | None = "m") -> Learned:
    fact = Fact(
        id=uuid5(NAMESPACE, text),
        scope=Scope(),
        text=text,
        category=Category.TOOL,
        subject="",
        confidence=1.0,
        source=Source(episode_id=ID, event_id=ID, session_id="s", turns=()),
        learned_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return Learned(fact=fact, reason="new", embedded_by=embedded_by)


def append(*rows: Learned, vectors: dict[str, Any], expected: LogVersion | None = None) -> AppendFacts:
    by_id = {uuid5(NAMESPACE, text): np.array(vector, dtype=np.float32) for text, vector in vectors.items()}
    return AppendFacts(scope=Scope(), expected=expected or LogVersion(), rows=rows, vectors=by_id)


@pytest.mark.parametrize("vector", [[0, 0], [float("nan"), 1], [float("inf"), 1], [[1, 0]], []])
def test_a_vector_that_no_cosine_can_be_taken_of_is_refused(vector: list[Any]) -> None:
    with pytest.raises(BadInput, match="zero, not finite or not one-dimensional"):
        continuation(append(learned("a"), vectors={"a": vector}))


def test_a_fact_that_names_an_embedder_has_to_bring_its_vector() -> None:
    with pytest.raises(BadInput, match="no vector"):
        continuation(append(learned("a"), learned("b"), vectors={"a": [1, 0]}))


def test_a_vector_has_to_belong_to_a_fact_with_an_embedder() -> None:
    with pytest.raises(BadInput, match="no embedder"):
        continuation(append(learned("a", embedded_by=None), vectors={"a": [1, 0]}))


def test_one_embedder_makes_vectors_of_one_length() -> None:
    with pytest.raises(Misconfigured, match="m made vectors of 2 and of 3 numbers"):
        continuation(append(learned("a"), learned("b"), vectors={"a": [1, 0], "b": [1, 0, 0]}))


def test_a_fact_is_learned_once_in_an_append() -> None:
    with pytest.raises(BadInput, match="twice"):
        continuation(append(learned("a"), learned("a"), vectors={"a": [1, 0]}))


def test_vectors_continue_behind_those_of_the_log() -> None:
    expected = LogVersion(n=10, chain="c", epoch=2, vectors=7)
    rows = (learned("a"), learned("b", embedded_by=None), learned("c"))

    added = continuation(append(*rows, vectors={"a": [1, 0], "c": [0, 1]}, expected=expected))

    assert [place.slot.index for place, _ in added.vectors] == [7, 8]
    assert (added.version.n, added.version.epoch, added.version.vectors) == (13, 2, 9)


def test_the_chain_depends_on_everything_before() -> None:
    rows = (learned("a", embedded_by=None), learned("b", embedded_by=None))
    forwards = continuation(append(*rows, vectors={})).version
    backwards = continuation(append(*reversed(rows), vectors={})).version
    after_another = continuation(append(*rows, vectors={}, expected=LogVersion(chain="another"))).version

    assert len({forwards.chain, backwards.chain, after_another.chain}) == 3
