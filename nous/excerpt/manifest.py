"""Manifest of an excerpt: which entries of the transcript were kept, cut or dropped."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nous.excerpt.items import Item
from nous.excerpt.strategy import Choice


class ManifestEntry(NamedTuple):
    """The entries of one item, its length in characters, how much is shown, and why."""

    entries: tuple[str, ...]
    role: str
    chars: int
    shown: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Items kept whole, cut and dropped, each in the order of the transcript."""

    strategy: str
    budget: int
    unit: str
    kept: tuple[ManifestEntry, ...]
    cut: tuple[ManifestEntry, ...]
    dropped: tuple[ManifestEntry, ...]

    @property
    def entries_dropped(self) -> int:
        return sum(len(record.entries) for record in self.dropped)


def manifest_of(
    items: Sequence[Item], left_out: Sequence[ManifestEntry], choice: Choice, *, strategy: str, budget: int, unit: str
) -> Manifest:
    """Return the manifest of every item, and of every entry that is not one."""
    kept: list[ManifestEntry] = []
    cut: list[ManifestEntry] = []
    dropped: list[ManifestEntry] = []
    for index, item in enumerate(items):
        spans, chars = choice.spans.get(index), item.size or len(item.text)
        if not spans:
            dropped.append(ManifestEntry(item.entries, str(item.role), chars, 0, "no room"))
            continue
        shown = sum(end - start for start, end in spans)
        record = ManifestEntry(item.entries, str(item.role), chars, shown, choice.reasons[index])
        (kept if shown == chars else cut).append(record)
    return Manifest(
        strategy=strategy,
        budget=budget,
        unit=unit,
        kept=tuple(kept),
        cut=tuple(cut),
        dropped=(*dropped, *left_out),
    )
