"""What was done beside the files, and cannot be undone by looking away: commits, bookings, messages sent."""

from collections.abc import Collection, Sequence

from nous.excerpt.items import Item
from nous.excerpt.ledger import Ledger
from nous.excerpt.spans import longest_closing, merged, most_added, shown_length
from nous.prose import Span

_LEAST = 16
_LONG = 20_000
"""From so many characters on, measuring exactly for each deed would take too long."""

Deed = tuple[int, Span]
"""A deed: the position of its item, and where it stands in that."""


def deeds_in(items: Sequence[Item], *, but: Collection[int]) -> list[Deed]:
    """The deeds of *items*, the last first, without those of the items at *but*."""
    return [
        (index, deed)
        for index in range(len(items) - 1, -1, -1)
        if items[index].deeds and index not in but
        for deed in reversed(items[index].deeds)
    ]


def take_deeds(items: Sequence[Item], deeds: Sequence[Deed], ledger: Ledger, most: int) -> dict[int, tuple[Span, ...]]:
    """Those of *deeds* that *most* characters hold, the first first, by item; *ledger* takes them."""
    limit = ledger.spent + most
    taken: dict[int, tuple[Span, ...]] = {}
    closing: dict[int, int] = {}
    for index, deed in deeds:
        if limit - ledger.spent < _LEAST:
            break
        before = taken.get(index, ())
        spans = merged((*before, deed))
        if index not in closing:
            closing[index] = longest_closing(items[index].text)
        more = _more(items[index].text, before, spans, deed, closing=closing[index])
        if ledger.spent + ledger.cost(index, more) <= limit:
            ledger.take(index, more)
            taken[index] = spans
    return taken


def _more(text: str, before: tuple[Span, ...], after: tuple[Span, ...], deed: Span, *, closing: int) -> int:
    """How many characters more it takes to show *after* than *before*; of a long text, at most how many."""
    if len(text) > _LONG:
        return most_added(text, deed, closing=closing, to_nothing=not before)
    return shown_length(text, after) - (shown_length(text, before) if before else 0)


def are_all(deeds: Sequence[Deed], taken: dict[int, tuple[Span, ...]]) -> bool:
    """Whether each of *deeds* is among what was *taken*."""
    return all(any(start <= deed[0] and deed[1] <= end for start, end in taken.get(index, ())) for index, deed in deeds)
