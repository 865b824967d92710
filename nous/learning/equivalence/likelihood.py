"""How likely two statements are to say the same: a logistic regression over what their readings share.

`tests/benchmarks/train_duplicates.py` finds the weights.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nous.learning.equivalence.compare import Difference, denied, opposed
from nous.learning.equivalence.reading import Reading


FEATURES = (
    "cosine", "containment", "containment_both", "literals_of_both", "without_literals", "same_topic", "other_topic",
    "denied", "opposed", "aligned", "longest_run", "one_region", "shorter", "ratio", "grams",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A weight for each feature, by which mean and deviation it is scaled, and the bias."""

    features: Mapping[str, tuple[float, float, float]]
    bias: float


@cache
def shipped() -> Weights:
    """Return the weights that come with nous."""
    text = files("nous.learning.equivalence").joinpath("weights.json").read_text(encoding="utf-8")
    found = json.loads(text)
    return Weights(features={name: tuple(each) for name, each in found["features"].items()}, bias=found["bias"])


def likelihood(found: Difference, cosine: float, weights: Weights | None = None) -> float:
    """Return the probability, between 0 and 1, that the two statements of *found* say the same, or one what the other."""
    weights = weights or shipped()
    values = features(found, cosine)
    score = weights.bias + sum(
        weight * (values[name] - mean) / deviation for name, (mean, deviation, weight) in weights.features.items()
    )
    return 1 / (1 + math.exp(-max(min(score, 30.0), -30.0)))


def features(found: Difference, cosine: float) -> dict[str, float]:
    """Return what of two statements speaks for or against their saying the same. Swapping them changes nothing."""
    left, right = found.left, found.right
    low, high = sorted(found.containment)
    counts = sorted(sum(word.is_literal for word in each) for each in (found.only_left, found.only_right))
    literals = [sum(word.is_literal for word in each.words) for each in (left, right)]
    sizes = sorted(len(each.words) for each in (left, right))
    grams = [_grams(each.text) for each in (left, right)]
    topics = [_topic(each) for each in (left, right)]
    run, aligned, regions = found.alignment
    return {
        "cosine": cosine,
        "containment": high,
        "containment_both": low,
        "literals_of_both": math.log1p(counts[0]),
        "without_literals": float(not all(literals)),
        "same_topic": float(topics[0] is not None and topics[0] == topics[1]),
        "other_topic": float(None not in topics and topics[0] != topics[1]),
        "denied": float(bool(denied(left, right))),
        "opposed": float(bool(opposed(left, right))),
        "aligned": aligned,
        "longest_run": run,
        "one_region": float(regions == 1),
        "shorter": math.log1p(sizes[0]),
        "ratio": sizes[0] / max(sizes[1], 1),
        "grams": len(grams[0] & grams[1]) / max(min(map(len, grams)), 1),
    }


def _topic(reading: Reading) -> str | None:
    return next((word.key for word in reading.words[:1] if word.is_literal and "/" in word.key), None)


def _grams(text: str) -> frozenset[str]:
    return frozenset(text[at : at + 4].lower() for at in range(len(text) - 3))
