"""What a strategy decides, and the seam that strategies stand behind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from nous.excerpt.items import Item
from nous.prose import Span


@dataclass(frozen=True, slots=True)
class Choice:
    """Which spans of which items are shown, by the item's position, and why. What is missing had no room."""

    spans: Mapping[int, tuple[Span, ...]] = field(default_factory=dict[int, tuple[Span, ...]])
    reasons: Mapping[int, str] = field(default_factory=dict[int, str])

    def with_item(self, index: int, spans: tuple[Span, ...], reason: str) -> "Choice":
        return Choice({**self.spans, index: spans}, {index: reason, **self.reasons})


class Strategy(Protocol):
    """Decides what survives. Every module in `nous.excerpt.strategies` has one, named `choose`."""

    def __call__(self, items: Sequence[Item], room: int) -> Choice:
        """Choose from *items* so that they take at most *room* characters as `nous.excerpt.layout` lays them out.

        It is asked only when not everything fits, and says the same when it is asked again. An empty choice means that
        the room is too small for this strategy.
        """
        ...
