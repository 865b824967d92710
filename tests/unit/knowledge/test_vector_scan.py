"""The exact index: rows as they are, or packed and scored again by their own floats."""

from collections.abc import Sequence
from uuid import UUID, uuid5

import numpy as np
import pytest
from builders.fact_rows import Vector, clustered

from nous.domain.episode import NAMESPACE
from nous.domain.errors import BadInput
from nous.domain.fact import LogVersion
from nous.knowledge.vector_scan import ROWS, Block, ExactScanIndex

AT = LogVersion(7, "c", 0, 7)


class Log:
    """Where floats are fetched from, and what was asked for."""

    def __init__(self, vectors: Vector) -> None:
        self._vectors = vectors
        self.asked: list[tuple[list[int], LogVersion]] = []

    def __call__(self, slots: Sequence[int], *, at: LogVersion) -> Vector:
        self.asked.append((list(slots), at))
        return self._vectors[list(slots)]


def name(number: int) -> UUID:
    return uuid5(NAMESPACE, str(number))


def filled(vectors: Vector, log: Log | None = None, *, most_exact: int = 0) -> ExactScanIndex:
    found = ExactScanIndex(vectors.shape[1], fetch=log, most_exact=most_exact)
    for number, vector in enumerate(vectors):
        found.add(name(number), vector, slot=number)
    return found


def near(index: ExactScanIndex, asked: Vector, floor: float) -> list[list[tuple[UUID, float]]]:
    return [list(found) for found in index.near(asked, floor, at=AT)]


def test_neighbours_come_nearest_first_across_blocks() -> None:
    angles = np.linspace(0, np.pi, ROWS + 10)
    index = filled(np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32))

    [found, none] = near(index, np.array([[-1, 0], [0, -1]], dtype=np.float32), 0.99999)

    assert [fact_id for fact_id, _ in found] == [name(number) for number in range(ROWS + 10)][::-1][: len(found)]
    assert all(cosine >= 0.99999 for _, cosine in found)
    assert none == []


def test_rows_that_are_packed_are_proposed_as_if_they_were_not() -> None:
    vectors = clustered(2 * ROWS + 100, dim=384)
    packed, exact = filled(vectors, Log(vectors)), filled(vectors)

    found, expected = (near(index, vectors[::500], 0.8) for index in (packed, exact))

    assert [[fact_id for fact_id, _ in each] for each in found] == [
        [fact_id for fact_id, _ in each] for each in expected
    ]
    for each, other in zip(found, expected, strict=True):
        assert [cosine for _, cosine in each] == pytest.approx([cosine for _, cosine in other], abs=1e-6)


def test_floats_are_fetched_once_for_all_that_look_near_and_of_the_version_that_is_judged() -> None:
    vectors = clustered(ROWS + 100, dim=384)
    log = Log(vectors)

    near(filled(vectors, log), vectors[[0, 0, 1]], 0.8)

    [(slots, at)] = log.asked
    assert at == AT
    assert len(set(slots)) == len(slots) < 200


def test_a_packed_cosine_is_off_by_less_than_is_allowed_for_even_where_one_number_dwarfs_all() -> None:
    vectors = np.full((ROWS, 384), 0.004, dtype=np.float32)
    vectors[:, 0] = 1
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    block = Block(384)
    block.rows[:] = vectors
    block.quantize()
    asked = np.ones((1, 384), dtype=np.float32) / np.sqrt(np.float32(384))

    off = block.cosines(asked, rows=ROWS) - vectors @ asked.T

    assert 0.01 < float(np.abs(off).max()) < block.loss


@pytest.mark.parametrize("vector", [[0.0, 0.0], [1.0, 1.0], [1.0], [float("nan"), 0.0]])
def test_only_unit_vectors_are_taken(vector: list[float]) -> None:
    with pytest.raises(BadInput):
        ExactScanIndex(dim=2).add(name(0), np.array(vector, dtype=np.float32))
