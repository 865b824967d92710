"""Define excerpt strategy types; fill a budget in given order; list items kept and dropped."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nous.excerpt.items import Item, Items
from nous.excerpt.layout import LengthAccount, full_length
from nous.text.sentences import Span


@dataclass(slots=True)
class Choice:
    """Spans to show of each item, by its position, and why; without spans it had no room."""

    spans: dict[int, tuple[Span, ...]] = field(default_factory=dict[int, tuple[Span, ...]])
    reasons: dict[int, str] = field(default_factory=dict[int, str])

    def take(self, index: int, spans: tuple[Span, ...], *, reason: str) -> None:
        """Show *spans* of the item at *index* instead of earlier ones; ignore empty *spans*."""
        if spans:
            self.spans[index] = spans
            self.reasons.setdefault(index, reason)

    @classmethod
    def of(cls, spans: Mapping[int, tuple[Span, ...]], *, reason: str) -> "Choice":
        shown = {index: taken for index, taken in spans.items() if taken}
        return cls(shown, dict.fromkeys(shown, reason))


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to choose what to keep.

    If not everything fits, *choose* returns what takes at most so many characters in `nous.excerpt.layout`; nothing if
    that is too little for this strategy. If everything that was said fits, *add* may fill the rest of the room with
    tool outputs. None leaves it empty. Both are deterministic.
    """

    choose: Callable[[Items, int], Choice]
    add: Callable[[Items, Choice, int], Choice] | None = None


_LEAST = 16  # characters of room below which the search stops: about the length of a label
_LONGEST_GAP = 80  # upper bound for the mark that is saved when the last item of a gap is shown


def whole_in_order(items: Items, order: Iterable[int], *, kept: Choice, room: int) -> Choice:
    """Return *kept* plus every item of *order* that fits whole into *room*."""
    choice = Choice(dict(kept.spans), dict(kept.reasons))
    account = LengthAccount.exactly(items, choice.spans)
    for index in order:
        spare = room - account.spent
        if spare < _LEAST:
            break
        if index in choice.spans or len(items[index].text) > spare + _LONGEST_GAP:
            continue
        size = full_length(items[index].text)
        if account.spent + account.cost(index, size) <= room:
            account.take(index, size)
            choice.take(index, ((0, len(items[index].text)),), reason="next in order")
    return choice


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


def manifest_of(
    items: Sequence[Item], left_out: Sequence[ManifestEntry], choice: Choice, *, strategy: str, budget: int, unit: str
) -> Manifest:
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
        strategy=strategy, budget=budget, unit=unit, kept=tuple(kept), cut=tuple(cut), dropped=(*dropped, *left_out)
    )
