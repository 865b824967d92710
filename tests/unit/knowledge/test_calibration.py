"""The threshold of an embedder, measured with embedders whose cosines are known."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nous.domain.errors import BadInput
from nous.knowledge.calibration import MARGIN, Embed, Pair, calibrate, shipped

if TYPE_CHECKING:
    from numpy.typing import NDArray

HARMLESS = Pair(one="Noor maintains the parser", other="Noor maintains the parser for the team", is_same=True)
CHANGED = Pair(one="The user drinks coffee", other="The user drinks coffee on weekends", is_same=False)
REWORDED = Pair(one="Omar maintains the index", other="The index is maintained by Omar", is_same=True)


def embedder(cosines: Mapping[Pair, float]) -> Embed:
    """Gives the two texts of each pair vectors of that cosine."""
    vectors = {pair.one: (1.0, 0.0) for pair in cosines} | {
        pair.other: (cosine, (1 - cosine**2) ** 0.5) for pair, cosine in cosines.items()
    }

    def embed(texts: Sequence[str]) -> "NDArray[np.float32]":
        return np.array([vectors[text] for text in texts], dtype=np.float32)

    return embed


def threshold(cosines: Mapping[Pair, float]) -> float | None:
    return calibrate(list(cosines), embedder(cosines), embedder_id="known").one_sided


def test_the_threshold_lies_above_every_detail_that_changes_the_sense() -> None:
    assert threshold({HARMLESS: 0.97, CHANGED: 0.881}) == pytest.approx(0.885 + MARGIN)


@pytest.mark.parametrize("cosines", [{HARMLESS: 0.97, CHANGED: 0.995}, {CHANGED: 0.85}])
def test_without_a_safe_threshold_or_anything_to_merge_there_is_none(cosines: Mapping[Pair, float]) -> None:
    assert threshold(cosines) is None


def test_equal_content_counts_as_recalled_without_the_threshold() -> None:
    cosines = {REWORDED: 0.85, HARMLESS: 0.9, CHANGED: 0.985}

    found = calibrate(list(cosines), embedder(cosines), embedder_id="known")

    assert (found.one_sided, found.recall, found.pairs) == (None, 0.5, 3)


def test_vectors_that_are_not_of_length_one_are_refused() -> None:
    with pytest.raises(BadInput, match="length 1"):
        calibrate([HARMLESS], lambda texts: np.ones((len(texts), 2), dtype=np.float32), embedder_id="odd")


def test_the_shipped_pairs_are_many_distinct_and_of_both_labels() -> None:
    pairs = shipped()

    assert len({(pair.one, pair.other) for pair in pairs}) == len(pairs) >= 120
    assert 0.4 < sum(pair.is_same for pair in pairs) / len(pairs) < 0.6
