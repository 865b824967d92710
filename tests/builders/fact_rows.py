"""Rows of a fact log with vectors, for those who look for what is near."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from builders.stores import WholeStore
from nous.domain.effects import AppendFacts
from nous.domain.episode import NAMESPACE, Category
from nous.domain.errors import Unavailable
from nous.domain.fact import Fact, Learned, Row, Source, Superseded
from nous.domain.scope import Scope
from nous.knowledge import decision
from nous.store.base import NO_VECTORS

Vector = NDArray[np.float32]
HOME = Scope(project="home")
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Named:
    """An embedder by name, which is never asked for a vector."""

    id: str = "m"
    dim: int = 8

    def embed(self, texts: object) -> Vector:
        raise Unavailable(f"{texts} cannot be embedded")


def fact_id(text: str) -> UUID:
    return uuid5(NAMESPACE, text)


def source(session: str = "s") -> Source:
    episode = uuid5(NAMESPACE, session)
    return Source(episode_id=episode, event_id=uuid5(episode, "event"), session_id=session, turns=(1,))


def learned(text: str, *, embedded_by: str | None = "m", scope: Scope = HOME) -> Learned:
    fact = Fact(
        id=fact_id(text),
        scope=scope,
        text=text,
        category=Category.TECHNICAL,
        subject="",
        confidence=1.0,
        source=source(),
        learned_at=NOON,
    )
    return Learned(fact=fact, reason="", embedded_by=embedded_by)


def said(session: str, text: str, *, embedded_by: str | None = "m", at: datetime = NOON) -> Learned:
    """A fact as *session* has taught it."""
    fact = replace(
        learned(text).fact,
        id=decision.fact_id(source(session).episode_id, text),
        subject=f"subject of {session}",
        source=source(session),
        learned_at=at,
        event_date="2026-01-01",
    )
    return Learned(fact=fact, reason="nothing known is near", embedded_by=embedded_by)


def superseded(text: str, by: str) -> Superseded:
    return Superseded(fact_id=fact_id(text), by=fact_id(by), reason="", at=NOON)


def append(store: WholeStore, *rows: Row, vectors: Mapping[str, Vector] | None = None, scope: Scope = HOME) -> None:
    """Append *rows* to the log of *scope*, with the vectors of the texts that have one."""
    by_id = {fact_id(text): vector for text, vector in (vectors or {}).items()}
    expected = store.read(scope, embedder=NO_VECTORS).version
    assert store.apply([AppendFacts(scope=scope, expected=expected, rows=rows, vectors=by_id)]) is None


def learn(store: WholeStore, vectors: Mapping[str, Vector], *, embedded_by: str = "m", scope: Scope = HOME) -> None:
    """Append a fact for each text, with its vector."""
    rows = [learned(text, embedded_by=embedded_by, scope=scope) for text in vectors]
    append(store, *rows, vectors=vectors, scope=scope)


def unit(*numbers: float) -> Vector:
    vector = np.zeros(8)
    vector[: len(numbers)] = numbers
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def clustered(count: int, *, dim: int, seed: int = 1, per_cluster: int = 20) -> Vector:
    """Unit vectors as texts have them: some all but alike, some far from all."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(count // per_cluster + 1, dim)) / np.sqrt(dim)
    spread = rng.uniform(0.1, 0.9, size=(count, 1)) / np.sqrt(dim)
    vectors = centres[rng.integers(0, len(centres), count)] + rng.normal(size=(count, dim)) * spread
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
