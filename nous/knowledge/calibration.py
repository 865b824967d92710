"""Calibrate the merge threshold of an embedder on labeled text pairs that ship with nous.

Texts of equal content merge without calibration. Where one of two short texts says more than the other, rules cannot
tell a harmless detail from one that changes the meaning. The cosine can, in part: a change of meaning moves the vector
further. The cosine from which a merge is safe differs per embedder.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from nous.domain.errors import BadInput
from nous.knowledge.equivalence.compare import difference
from nous.knowledge.vector_scan import checked
from nous.knowledge.verdict import Policy, Statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEPS = tuple(step / 1000 for step in range(800, 991, 5))
"""Thresholds that are tried: 0.800 to 0.990 in steps of 0.005."""

MARGIN = 0.01
"""Added to the lowest threshold without false merges: unseen pairs may be worse than the labeled ones."""

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two texts; `is_same` means that a reader of one learns nothing important from the other."""

    one: str
    other: str
    is_same: bool
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Effect of one threshold on the one-sided pairs: all merges, and the false ones among them."""

    threshold: float
    merged: int
    false_merges: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Calibrated threshold of an embedder, with its errors on the labeled pairs.

    `one_sided` is the value for `Policy.one_sided`; None if no threshold is safe. With it, `false_merges` of all
    `pairs` merge wrongly, and the fraction `recall` of the pairs that should merge does. `table` has a row for every
    threshold that was tried.
    """

    embedder_id: str
    one_sided: float | None
    false_merges: int
    recall: float
    pairs: int
    table: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class _Scored:
    pair: Pair
    cosine: float
    is_equal: bool
    is_one_sided: bool

    def is_merged(self, near: float, one_sided: float | None) -> bool:
        is_near = self.is_one_sided and one_sided is not None and self.cosine >= one_sided
        return is_near or (self.is_equal and self.cosine >= near)


def shipped() -> tuple[Pair, ...]:
    """Return the labeled pairs that ship with nous."""
    rows = json.loads(files("nous.knowledge").joinpath("pairs.json").read_text(encoding="utf-8"))
    return tuple(Pair(one=row["a"], other=row["b"], is_same=row["label"] == "same", kind=row["kind"]) for row in rows)


def calibrate(pairs: Sequence[Pair], embed: Embed, *, embedder_id: str) -> Calibration:
    """Find the merge threshold for the embedder that *embed* calls.

    Raises:
        BadInput: there are no pairs, or *embed* returns something other than unit vectors.
        Errors of *embed* pass through.
    """
    scored = [*_scored(pairs, embed)]
    table = tuple(_step(threshold, scored) for threshold in STEPS)
    one_sided = _threshold(table)
    merged = [each for each in scored if each.is_merged(Policy().near, one_sided)]
    right = sum(each.pair.is_same for each in merged)
    return Calibration(
        embedder_id=embedder_id,
        one_sided=one_sided,
        false_merges=len(merged) - right,
        recall=right / max(sum(pair.is_same for pair in pairs), 1),
        pairs=len(pairs),
        table=table,
    )


def _scored(pairs: Sequence[Pair], embed: Embed) -> Iterator[_Scored]:
    if not pairs:
        raise BadInput("nothing can be measured without pairs")
    texts = [text for pair in pairs for text in (pair.one, pair.other)]
    vectors = embed(texts)
    vectors = checked(vectors, rows=len(texts), dim=vectors.shape[-1])
    cosines = (vectors[::2] * vectors[1::2]).sum(axis=1)
    for pair, cosine in zip(pairs, cosines.tolist(), strict=True):
        one, other = Statement(pair.one), Statement(pair.other)
        found = difference(one.reading, other.reading)
        is_equal = one.form == other.form or found.is_equal
        yield _Scored(pair, cosine, is_equal, is_one_sided=not is_equal and not found.objection)


def _step(threshold: float, scored: Sequence[_Scored]) -> Step:
    merged = [each.pair.is_same for each in scored if each.is_one_sided and each.cosine >= threshold]
    return Step(threshold=threshold, merged=len(merged), false_merges=len(merged) - sum(merged))


def _threshold(table: Sequence[Step]) -> float | None:
    """Return the lowest safe threshold plus the margin; None if that merges nothing."""
    least = next((step.threshold for step in table if not step.false_merges), None)
    if least is None or not any(step.merged for step in table if step.threshold >= least):
        return None
    found = round(least + MARGIN, 3)
    return found if found <= table[-1].threshold else None
