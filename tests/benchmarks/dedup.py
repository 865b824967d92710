"""How well repeats are told from near copies, by each rule and kind of pair.

    python tests/benchmarks/dedup.py [PAIRS.json...]

A file holds a list of `{"a", "b", "label", "kind"}`. Pairs labelled `same` or `dup` should be merged, those labelled
`apart` or `distinct` must not be, others are left out. Each is judged both ways round, and counts as merged if either
way merges it. Without files: the pairs in ../shared/data, if they are there.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from common.measure import DATA

from nous.embedding.base import Embedder
from nous.embedding.minilm import MiniLM
from nous.knowledge.judge import AlreadyKnown, Richer, judge
from nous.knowledge.statement import Neighbour, Statement
from nous.knowledge.verdict import Dedup, Policy

FILES = (DATA / "facts" / "minimal_pairs_a.json", DATA / "facts" / "dedup_pairs_dev.json")
SAME = frozenset({"same", "dup"})
APART = frozenset({"apart", "distinct"})
RULES = {
    "guarded": Policy().for_embedder(MiniLM.id),
    "cosine > .95": Policy(dedup=Dedup.COSINE, threshold=0.95),
    "cosine > .90": Policy(dedup=Dedup.COSINE, threshold=0.90),
    "exact": Policy(dedup=Dedup.EXACT),
}


@dataclass(frozen=True, slots=True)
class Pair:
    one: Statement
    other: Statement
    should_merge: bool
    kind: str
    cosine: float

    def is_merged(self, policy: Policy) -> bool:
        return any(_merges(a, b, self.cosine, policy) for a, b in ((self.one, self.other), (self.other, self.one)))


def _merges(known: Statement, candidate: Statement, cosine: float, policy: Policy) -> bool:
    neighbour = Neighbour(fact_id=UUID(int=1), statement=known, similarity=cosine)
    return isinstance(judge(candidate, [neighbour], policy), AlreadyKnown | Richer)


def pairs(path: Path, embedder: Embedder) -> list[Pair]:
    read: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [_pair(row, embedder) for row in read if row["label"] in SAME | APART]


def _pair(row: dict[str, Any], embedder: Embedder) -> Pair:
    one, other = embedder.embed([row["a"], row["b"]])
    kind = row["kind"] if isinstance(row["kind"], str) else ""
    return Pair(
        Statement(row["a"]),
        Statement(row["b"]),
        row["label"] in SAME,
        f"{row['label']} {kind}".strip(),
        float(one @ other),
    )


def table(found: Sequence[Pair]) -> Iterable[str]:
    """A line for each kind of pair: how many of them each rule merges."""
    yield f"{'':18}" + "".join(f"{name:>14}" for name in RULES)
    for kind in dict.fromkeys(pair.kind for pair in found):
        yield _line(kind, [pair for pair in found if pair.kind == kind])
    yield _line("all to keep apart", [pair for pair in found if not pair.should_merge])
    yield _line("all to merge", [pair for pair in found if pair.should_merge])


def _line(name: str, found: Sequence[Pair]) -> str:
    counts = (sum(pair.is_merged(policy) for pair in found) for policy in RULES.values())
    return f"{name:18}" + "".join(f"{f'{count}/{len(found)}':>14}" for count in counts)


def main(files: Sequence[Path]) -> int:
    if missing := [str(path) for path in files if not path.exists()]:
        sys.stdout.write(f"not measured: there is no {', '.join(missing)}; name a file of pairs\n")
        return 0 if files == FILES else 2
    embedder = MiniLM()
    lines: list[str] = []
    for path in files:
        lines += ["", path.name, *table(pairs(path, embedder))]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]] or FILES))
