"""Likelihood that two statements say the same: a logistic regression over what their readings share."""

import json
import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from nous.learning.equivalence.compare import Difference, denied, opposed


@cache
def shipped() -> tuple[float, Mapping[str, tuple[float, float, float]]]:
    """Return the bias, and the mean, deviation and weight of each feature: see tests/benchmarks/train_duplicates.py."""
    found = json.loads(files("nous.learning.equivalence").joinpath("weights.json").read_text(encoding="utf-8"))
    return found["bias"], {name: tuple(each) for name, each in found["features"].items()}


def likelihood(found: Difference, cosine: float) -> float:
    """Return the probability, between 0 and 1, that two statements say the same, or one what the other does."""
    bias, weights = shipped()
    values = features(found, cosine)
    scaled = (weight * (values[name] - mean) / deviation for name, (mean, deviation, weight) in weights.items())
    return 1 / (1 + math.exp(-max(min(bias + sum(scaled), 30.0), -30.0)))


def features(found: Difference, cosine: float) -> dict[str, float]:
    """Return what speaks for or against their saying the same. Swapping the statements changes nothing."""
    both = found.left, found.right
    sizes = sorted(len(each.words) for each in both)
    # The path that a statement opens with is what it is about.
    topics = [next((w.key for w in each.words[:1] if w.is_literal and "/" in w.key), None) for each in both]
    run, aligned, regions = found.alignment
    unshared = min(sum(word.is_literal for word in each) for each in (found.only_left, found.only_right))
    return {
        "cosine": cosine,
        "containment": max(found.containment),
        "literals_of_both": math.log1p(unshared),
        "without_literals": float(not all(any(word.is_literal for word in each.words) for each in both)),
        "same_topic": float(topics[0] is not None and topics[0] == topics[1]),
        "other_topic": float(None not in topics and topics[0] != topics[1]),
        "denied": float(bool(denied(*both))),
        "opposed": float(bool(opposed(*both))),
        "aligned": aligned,
        "longest_run": run,
        "one_region": float(regions == 1),
        "shorter": math.log1p(sizes[0]),
        "ratio": sizes[0] / max(sizes[1], 1),
    }
