"""What became of every entry of a transcript."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nous.excerpt.items import Item
from nous.excerpt.strategy import Choice


class Record(NamedTuple):
    """The entries that it stands for, its length in characters, how much of it is shown, and why.

    `score` is what the strategy thought it worth, in units of its own; 0 where it did not weigh it.
    """

    entries: tuple[str, ...]
    role: str
    chars: int
    shown: int
    reason: str
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What was kept whole, what was cut, and what was dropped; each in the order of the transcript's items."""

    strategy: str
    budget: int
    unit: str
    kept: tuple[Record, ...]
    cut: tuple[Record, ...]
    dropped: tuple[Record, ...]

    @property
    def entries_dropped(self) -> int:
        return sum(len(record.entries) for record in self.dropped)


def manifest_of(
    items: Sequence[Item], left_out: Sequence[Record], choice: Choice, *, strategy: str, budget: int, unit: str
) -> Manifest:
    """Account for every item and for every entry that is none."""
    kept: list[Record] = []
    cut: list[Record] = []
    dropped: list[Record] = []
    scores = choice.scores
    for index, item in enumerate(items):
        spans, chars = choice.spans.get(index), item.size or len(item.text)
        score = round(scores[index], 3) if index in scores else 0.0
        if not spans:
            dropped.append(Record(item.entries, str(item.role), chars, 0, "no room", score))
            continue
        shown = sum(end - start for start, end in spans)
        record = Record(item.entries, str(item.role), chars, shown, choice.reasons[index], score)
        (kept if shown == chars else cut).append(record)
    return Manifest(
        strategy=strategy,
        budget=budget,
        unit=unit,
        kept=tuple(kept),
        cut=tuple(cut),
        dropped=(*dropped, *left_out),
    )
