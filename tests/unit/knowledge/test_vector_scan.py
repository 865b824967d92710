"""The exact index of vectors."""

from uuid import UUID, uuid5

import numpy as np
import pytest
from builders.fact_rows import Vector

from nous.domain.episode import NAMESPACE
from nous.domain.errors import BadInput
from nous.knowledge.vector_scan import ROWS, ExactScanIndex


def name(number: int) -> UUID:
    return uuid5(NAMESPACE, str(number))


def filled(vectors: Vector) -> ExactScanIndex:
    found = ExactScanIndex(vectors.shape[1])
    for number, vector in enumerate(vectors):
        found.add(name(number), vector)
    return found


def test_neighbours_come_nearest_first_across_blocks() -> None:
    angles = np.linspace(0, np.pi, ROWS + 10)
    index = filled(np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32))

    found = list(index.near(np.array([-1, 0], dtype=np.float32), 0.99999))

    assert [fact_id for fact_id, _ in found] == [name(number) for number in range(ROWS + 10)][::-1][: len(found)]
    assert all(cosine >= 0.99999 for _, cosine in found)
    assert list(index.near(np.array([0, -1], dtype=np.float32), 0.99999)) == []
    assert list(filled(np.empty((0, 2), np.float32)).near(np.array([0, -1], dtype=np.float32), 0)) == []


@pytest.mark.parametrize("vector", [[0.0, 0.0], [1.0, 1.0], [1.0], [float("nan"), 0.0]])
def test_only_unit_vectors_are_taken(vector: list[float]) -> None:
    with pytest.raises(BadInput):
        ExactScanIndex(dim=2).add(name(0), np.array(vector, dtype=np.float32))
