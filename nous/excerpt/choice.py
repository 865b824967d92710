"""What a strategy decides, and the seam that strategies stand behind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from nous.excerpt.items import Items
from nous.prose import Span


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
