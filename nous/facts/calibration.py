"""How near is near enough for an embedder: measured on pairs of texts that come with nous.

What is merged at sight (texts of equal content) needs no measuring. Where one of two short texts says more than the
other, rules cannot tell a harmless detail from one that changes the sense; the cosine can, in part: what changes
the sense moves the vector further. From which cosine on differs from embedder to embedder.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from nous.domain.errors import BadInput
from nous.facts.equivalence.compare import difference
from nous.facts.vector_scan import checked
from nous.facts.verdict import Policy, Statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEPS = tuple(step / 1000 for step in range(800, 991, 5))
"""The thresholds that are tried: .80 to .99."""

MARGIN = 0.01
"""What is added to the least threshold that makes no false merge: the pairs at hand will not be the worst there are."""

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two texts, and whether a reader of one learns nothing that matters from the other."""

    one: str
    other: str
    is_same: bool
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a threshold does to the one-sided pairs: how many it merges, rightly and falsely."""

    threshold: float
    merged: int
    false_merges: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What was measured for an embedder.

    `one_sided` is what `Policy.one_sided` should be, None if no threshold is safe. With it, `false_merges` of all
    `pairs` are merged that should not be, and of those that should be, the part `recall` is. `table` has every step.
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
    """The pairs that come with nous."""
    rows = json.loads(files("nous.facts").joinpath("pairs.json").read_text(encoding="utf-8"))
    return tuple(Pair(one=row["a"], other=row["b"], is_same=row["label"] == "same", kind=row["kind"]) for row in rows)


def calibrate(pairs: Sequence[Pair], embed: Embed, *, embedder_id: str) -> Calibration:
    """Find the threshold for the embedder that *embed* asks.

    Raises:
        BadInput: there are no pairs, or *embed* answers with something else than unit vectors.
        And whatever *embed* raises.
    """
    scored = _scored(pairs, embed)
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


def _scored(pairs: Sequence[Pair], embed: Embed) -> list[_Scored]:
    if not pairs:
        raise BadInput("nothing can be measured without pairs")
    texts = [text for pair in pairs for text in (pair.one, pair.other)]
    vectors = embed(texts)
    vectors = checked(vectors, rows=len(texts), dim=vectors.shape[-1])
    cosines = (vectors[::2] * vectors[1::2]).sum(axis=1)
    return [_judged(pair, float(cosine)) for pair, cosine in zip(pairs, cosines, strict=True)]


def _judged(pair: Pair, cosine: float) -> _Scored:
    one, other = Statement(pair.one), Statement(pair.other)
    found = difference(one.reading, other.reading)
    is_equal = one.form == other.form or found.is_equal
    return _Scored(pair, cosine, is_equal, is_one_sided=not is_equal and not found.objection)


def _step(threshold: float, scored: Sequence[_Scored]) -> Step:
    merged = [each.pair.is_same for each in scored if each.is_one_sided and each.cosine >= threshold]
    return Step(threshold=threshold, merged=len(merged), false_merges=len(merged) - sum(merged))


def _threshold(table: Sequence[Step]) -> float | None:
    """The least safe threshold and the margin; None where that lies beyond the table, or nothing would be merged."""
    least = next((step.threshold for step in table if not step.false_merges), None)
    if least is None or not any(step.merged for step in table if step.threshold >= least):
        return None
    found = round(least + MARGIN, 3)
    return found if found <= table[-1].threshold else None
