"""What became of every entry of a transcript."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nous.excerpt.choice import Choice
from nous.excerpt.items import Item
from nous.excerpt.record import Record


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
    records = list(_records(items, choice))
    return Manifest(
        strategy=strategy,
        budget=budget,
        unit=unit,
        kept=tuple(record for record in records if record.shown == record.chars),
        cut=tuple(record for record in records if 0 < record.shown < record.chars),
        dropped=(*(record for record in records if record.shown == 0), *left_out),
    )


def _records(items: Sequence[Item], choice: Choice) -> Iterator[Record]:
    for index, item in enumerate(items):
        yield Record(
            entries=item.entries,
            role=item.role.value,
            chars=len(item.text),
            shown=sum(end - start for start, end in choice.spans.get(index, ())),
            reason=choice.reasons.get(index, "no room"),
            score=round(choice.scores.get(index, 0.0), 3),
        )
