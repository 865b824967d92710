"""Train the classifier of possible duplicates, and say by cross-validation what it is worth.

    python tests/benchmarks/train_duplicates.py
    python tests/benchmarks/train_duplicates.py --write nous/knowledge/equivalence/weights.json

The pairs are those of gold/pairs_dev.jsonl and facts/minimal_pairs_a.json, and, as strangers, pairs of
facts/learnings.json that lie further apart than any judged pair. Pairs that share a statement are held out together,
since a statement that was seen in training would be recognised by its words.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from common.measure import DATA

from nous.embedding.minilm import MiniLM
from nous.knowledge.equivalence.compare import difference, features
from nous.knowledge.statement import Statement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SAME = ("same", "a_in_b", "b_in_a")
WEIGHT = {"near": 1.0, "free": 1.0, "detail": 0.5, "update": 0.3, "minimal": 0.2, "background": 0.6}
"""How much a pair counts: real ones the most, since they are what is judged."""

SHRINKAGE = 3.0
STRANGERS = 400
FAR = (0.50, 0.70)
FOLDS = 8
SEEDS = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, whether they say the same or one what the other, and where the pair is from."""

    one: str
    other: str
    is_same: bool
    kind: str


def judged(data: Path) -> Iterator[Pair]:
    """Yield the labelled pairs."""
    for line in (data / "gold" / "pairs_dev.jsonl").read_text().splitlines():
        row = json.loads(line)
        yield Pair(row["a"]["text"], row["b"]["text"], row["label"] in SAME, row["kind"])
    for row in json.loads((data / "facts" / "minimal_pairs_a.json").read_text()):
        yield Pair(row["a"], row["b"], row["label"] in SAME, "minimal")


def strangers(data: Path, known: Sequence[Pair], vectors: dict[str, "Floats"]) -> Iterator[Pair]:
    """Yield unlabelled pairs of statements, which hardly ever say the same."""
    texts = statements(data)
    matrix = np.stack([vectors[text] for text in texts])
    cosines = matrix @ matrix.T
    seen = {frozenset((pair.one, pair.other)) for pair in known}
    near = np.argwhere((cosines >= FAR[0]) & (cosines < FAR[1]) & np.tri(len(texts), k=-1, dtype=bool))
    for later, earlier in np.random.default_rng(0).permutation(near)[:STRANGERS]:
        if frozenset((texts[earlier], texts[later])) not in seen:
            yield Pair(texts[earlier], texts[later], is_same=False, kind="background")


def statements(data: Path) -> list[str]:
    """Return the distinct statements of one project."""
    return list(dict.fromkeys(row["fact"] for row in json.loads((data / "facts" / "learnings.json").read_text())))


def groups(pairs: Sequence[Pair]) -> "NDArray[np.int64]":
    """Return a number for each pair, the same for pairs that a chain of shared statements connects."""
    leader: dict[str, str] = {}

    def find(text: str) -> str:
        while leader.setdefault(text, text) != text:
            text = leader[text]
        return text

    for pair in pairs:
        if pair.kind != "background":
            leader[find(pair.one)] = find(pair.other)
    names = [str(at) if pair.kind == "background" else find(pair.one) for at, pair in enumerate(pairs)]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names])


@dataclass(frozen=True, slots=True)
class Fit:
    """A logistic regression over scaled features."""

    means: "Floats"
    deviations: "Floats"
    weights: "Floats"

    def predict(self, rows: "Floats") -> "Floats":
        scaled = np.c_[(rows - self.means) / self.deviations, np.ones(len(rows))]
        return 1 / (1 + np.exp(-(scaled @ self.weights)))


def fit(rows: "Floats", is_same: "Floats", counts: "Floats") -> Fit:
    """Fit by Newton's method, with the weights but not the bias shrunk towards zero."""
    means, deviations = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    scaled = np.c_[(rows - means) / deviations, np.ones(len(rows))]
    shrinkage = np.r_[np.full(rows.shape[1], SHRINKAGE), 1e-9]
    weights = np.zeros(scaled.shape[1])
    for _ in range(30):
        found = 1 / (1 + np.exp(-(scaled @ weights)))
        slope = scaled.T @ (counts * (found - is_same)) + shrinkage * weights
        curvature = (scaled * (counts * found * (1 - found))[:, None]).T @ scaled + np.diag(shrinkage)
        weights -= np.linalg.solve(curvature, slope)
    return Fit(means, deviations, weights)


def cross_validated(rows: "Floats", is_same: "Floats", counts: "Floats", group: "NDArray[np.int64]") -> "Floats":
    """Return what each pair scores by a fit that has seen none of its group, as the mean over several splits."""
    scores = np.zeros(len(rows))
    for seed in range(SEEDS):
        folds = np.random.default_rng(seed).integers(0, FOLDS, group.max() + 1)[group]
        for fold in range(FOLDS):
            held_out = folds == fold
            found = fit(rows[~held_out], is_same[~held_out], counts[~held_out])
            scores[held_out] += found.predict(rows[held_out]) / SEEDS
    return scores


def report(name: str, scores: "Floats", pairs: Sequence[Pair]) -> None:
    """Print how well *scores* tell real pairs that say the same from real strangers."""
    same = np.array([score for score, pair in zip(scores, pairs, strict=True) if is_real(pair) and pair.is_same])
    real = [(score, pair) for score, pair in zip(scores, pairs, strict=True) if pair.kind == "near"]
    apart = np.array([score for score, pair in real if not pair.is_same])
    area = (same[:, None] > apart[None]).mean() + (same[:, None] == apart[None]).mean() / 2
    line = ", ".join(f"{(same >= at).mean():.2f} / {(apart >= at).mean():.2f} at {at}" for at in (0.27, 0.4, 0.5, 0.6))
    print(f"{name}: AUC {area:.3f}; same / strangers found: {line}")


def is_real(pair: Pair) -> bool:
    return pair.kind in {"near", "free"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    if not options.data.exists():
        parser.exit(message=f"not measured: there is no {options.data}; name a folder with gold/ and facts/\n")
    known = list(judged(options.data))
    judged_texts = (text for pair in known for text in (pair.one, pair.other))
    texts = list(dict.fromkeys([*statements(options.data), *judged_texts]))
    vectors = dict(zip(texts, MiniLM().embed(texts).astype(np.float64), strict=True))
    pairs = [*known, *strangers(options.data, known, vectors)]
    readings = {text: Statement(text).reading for text in texts}
    found = [
        features(difference(readings[pair.one], readings[pair.other]), float(vectors[pair.one] @ vectors[pair.other]))
        for pair in pairs
    ]
    rows = np.array([list(each.values()) for each in found])
    is_same = np.array([float(pair.is_same) for pair in pairs])
    counts = np.array([WEIGHT[pair.kind] for pair in pairs])
    report("cosine alone", rows[:, list(found[0]).index("cosine")], pairs)
    report("cross-validated", cross_validated(rows, is_same, counts, groups(pairs)), pairs)
    trained = fit(rows, is_same, counts)
    report("trained on all", trained.predict(rows), pairs)
    if options.write:
        options.write.write_text(exported(trained, list(found[0])))


def exported(trained: Fit, names: Sequence[str]) -> str:
    """Return the weights as `nous.knowledge.equivalence.compare` reads them: mean, deviation and weight."""
    columns = zip(names, trained.means, trained.deviations, trained.weights, strict=False)
    lines = [f'"{name}": {[round(float(each), 4) for each in column]}' for name, *column in columns]
    return f'{{"bias": {trained.weights[-1]:.4f}, "features": {{\n  ' + ",\n  ".join(lines) + "\n}}\n"


if __name__ == "__main__":
    main()
