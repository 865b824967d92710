"""What may be appended to a fact log."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid5

import numpy as np

from nous.domain.effects import AppendFacts
from nous.domain.episode import Category
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
