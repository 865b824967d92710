"""Compute an embedder's cosine threshold for merging facts, from labeled pairs of texts.

Texts of equal content merge without calibration. Where one of two short texts says more than the other, rules cannot
tell a harmless detail from one that changes the meaning. The cosine can, in part: a change of meaning moves the vector
further. The cosine from which a merge is safe differs per embedder.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from nous.knowledge.equivalence.compare import difference
from nous.knowledge.statement import Statement
from nous.knowledge.vector_scan import checked
from nous.knowledge.verdict import Policy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEPS = tuple(step / 1000 for step in range(800, 991, 5))

MARGIN = 0.01
"""Added to the lowest threshold without false merges: unseen pairs may be worse than the labeled ones."""

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]


class Pair(NamedTuple):
    """Two texts; `is_same` means that a reader of one learns nothing important from the other."""

    one: str
    other: str
    is_same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Calibrated threshold of an embedder, with its errors on the labeled pairs.

    `one_sided` is the value for `Policy.one_sided`; None if no threshold is safe. With it, `false_merges` of all
    `pairs` merge wrongly, and the fraction `recall` of the pairs that should merge does.
    """

    embedder_id: str
    one_sided: float | None
    false_merges: int
    recall: float
    pairs: int


class _Scored(NamedTuple):
    is_same: bool
    cosine: float
    is_equal: bool
    is_one_sided: bool


def shipped() -> tuple[Pair, ...]:
    rows = json.loads(files("nous.knowledge").joinpath("pairs.json").read_text(encoding="utf-8"))
    return tuple(Pair(row["a"], row["b"], row["label"] == "same") for row in rows)


def calibrate(pairs: Sequence[Pair], embed: Embed, *, embedder_id: str) -> Calibration:
    """Find the merge threshold of *embed*. Raises its errors, and `BadInput` for odd vectors."""
    scored = [*_scored(pairs, embed)]
    one_sided = _threshold([each for each in scored if each.is_one_sided])
    merged = [
        each.is_same
        for each in scored
        if (each.is_equal and each.cosine >= Policy().near)
        or (each.is_one_sided and one_sided is not None and each.cosine >= one_sided)
    ]
    return Calibration(
        embedder_id=embedder_id,
        one_sided=one_sided,
        false_merges=len(merged) - sum(merged),
        recall=sum(merged) / max(sum(pair.is_same for pair in pairs), 1),
        pairs=len(pairs),
    )


def _scored(pairs: Sequence[Pair], embed: Embed) -> Iterator[_Scored]:
    texts = [text for pair in pairs for text in (pair.one, pair.other)]
    vectors = embed(texts)
    vectors = checked(vectors, rows=len(texts), dim=vectors.shape[-1])
    cosines = (vectors[::2] * vectors[1::2]).sum(axis=1)
    for pair, cosine in zip(pairs, cosines.tolist(), strict=True):
        one, other = Statement(pair.one), Statement(pair.other)
        found = difference(one.reading, other.reading)
        is_equal = one.form == other.form or found.is_equal
        yield _Scored(pair.is_same, cosine, is_equal, is_one_sided=not is_equal and not found.objection)


def _threshold(one_sided: Sequence[_Scored]) -> float | None:
    """Return the lowest safe threshold plus the margin; None if that merges nothing."""
    highest = max((each.cosine for each in one_sided if not each.is_same), default=-1.0)
    least = next((step for step in STEPS if step > highest), None)
    if least is None or not any(each.cosine >= least for each in one_sided):
        return None
    found = round(least + MARGIN, 3)
    return found if found <= STEPS[-1] else None
