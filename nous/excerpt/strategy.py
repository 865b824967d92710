"""What a strategy decides, and the seam that strategies stand behind."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from nous.excerpt.items import Items
from nous.excerpt.layout import Ledger
from nous.excerpt.spans import ends, full_length
from nous.text.sentences import Span


@dataclass(slots=True)
class Choice:
    """Which spans of which items are shown, by the item's position, and why; made by taking one after the other.

    What is missing had no room. `scores` say what each item seemed worth that the strategy weighed, shown or not, in
    units of its own.
    """

    spans: dict[int, tuple[Span, ...]] = field(default_factory=dict[int, tuple[Span, ...]])
    reasons: dict[int, str] = field(default_factory=dict[int, str])
    scores: dict[int, float] = field(default_factory=dict[int, float])

    def take(self, index: int, spans: tuple[Span, ...], *, reason: str) -> None:
        """Show *spans* of the item at *index*, which replace those shown so far; nothing if there are none."""
        if spans:
            self.spans[index] = spans
            self.reasons.setdefault(index, reason)

    @classmethod
    def of(cls, spans: Mapping[int, tuple[Span, ...]], *, reason: str) -> "Choice":
        """All of *spans* for one reason."""
        shown = {index: taken for index, taken in spans.items() if taken}
        return cls(shown, dict.fromkeys(shown, reason))


class Choose(Protocol):
    """Decides what survives."""

    def __call__(self, items: Items, room: int) -> Choice:
        """Choose from *items* so that they take at most *room* characters as `nous.excerpt.layout` lays them out.

        It is asked only when not everything fits, and says the same when it is asked again. An empty choice means that
        the room is too small for this strategy.
        """
        ...


class Add(Protocol):
    """Adds to what survives."""

    def __call__(self, items: Items, choice: Choice, room: int) -> Choice:
        """*choice* and as much more of *items* as *room* holds."""
        ...


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to decide what survives. Every module in `nous.excerpt.strategies` has one, named `STRATEGY`.

    Where everything that was said fits, *add* may fill the rest of the room with what tools answered; None leaves it.
    """

    choose: Choose
    add: Add | None = None


_LEAST = 16
"""Characters of room in which nothing is looked for any more: about what a label takes."""

_LONGEST_GAP = 80
"""More than a mark takes that is saved when the last item of a gap is shown."""


def whole_in_order(items: Items, order: Iterable[int], *, kept: Choice, room: int) -> Choice:
    """*kept* and every further item of *order* that fits into *room*."""
    choice = Choice(dict(kept.spans), dict(kept.reasons), dict(kept.scores))
    ledger = Ledger.exactly(items, choice.spans)
    for index in order:
        spare = room - ledger.spent
        if spare < _LEAST:
            break
        if index in choice.spans or len(items[index].text) > spare + _LONGEST_GAP:
            continue
        size = full_length(items[index].text)
        if ledger.spent + ledger.cost(index, size) <= room:
            ledger.take(index, size)
            choice.take(index, ((0, len(items[index].text)),), reason="next in order")
    return choice


def until_full(items: Items, order: Iterable[int], *, room: int) -> Choice:
    """The items of *order* up to the first that does not fit, and as much of that one as does."""
    spans: dict[int, tuple[Span, ...]] = {}
    ledger = Ledger(items)
    for index in order:
        left = room - ledger.spent - ledger.cost(index, 0)
        size = full_length(items[index].text)
        if taken := ends(items[index].text, left):
            spans[index] = taken
            ledger.take(index, min(size, left))
        if size > left:
            break
    return Choice.of(spans, reason="next in order")
