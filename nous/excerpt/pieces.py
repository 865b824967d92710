"""What items consist of: sentences and calls, each with the terms it speaks of."""

from collections.abc import Iterator, Sequence

from nous.excerpt.concepts import Concepts
from nous.excerpt.items import Item
from nous.excerpt.spans import back_to_a_blank
from nous.prose import Span, sentences

LONGEST_PIECE = 400
CONSIDERED = 300_000
_LONGEST_SHOUT = 30


class Piece:
    """A sentence or call: *span* of the item at *index*. `news` are the terms that nothing taken has spoken of yet.

    *factor* is what its kind makes of their worth, at most as long as it is not read.
    """

    __slots__ = ("factor", "index", "is_read", "length", "news", "span")

    def __init__(self, index: int, span: Span, news: set[str]) -> None:
        self.index = index
        self.span = span
        self.length = span[1] - span[0]
        self.news = news
        self.factor = 1.0
        self.is_read = False


def pieces_of(items: Sequence[Item]) -> list[list[Piece]]:
    """The pieces of every item, in order.

    Of a session that says more than `CONSIDERED` characters, every item is considered up to the same length: what a
    message is about, it says at its beginning, and the work stays within bounds.
    """
    concepts = Concepts()
    most = _equal_share([len(item.text) for item in items], CONSIDERED)
    return [list(_pieces(index, item, concepts, most)) for index, item in enumerate(items)]


def _pieces(index: int, item: Item, concepts: Concepts, most: int) -> Iterator[Piece]:
    bare = concepts.bare(item.text[:most])
    for start, end in _parts(item, len(bare)):
        yield Piece(index, (start, end), concepts.of(bare[start:end]))


def _parts(item: Item, most: int) -> Iterator[Span]:
    """The sentences or calls of *item* that begin among its first *most* characters."""
    for start, end in item.parts or _complete(item.text[:most]):
        if start >= most:
            return
        if end - start <= LONGEST_PIECE:
            yield start, end
            continue
        begun = start
        while begun < min(end, most):
            stop = end if end - begun <= LONGEST_PIECE else back_to_a_blank(item.text, begun + LONGEST_PIECE)
            yield begun, stop
            begun = stop


def _complete(text: str) -> Iterator[Span]:
    """The sentences of *text*; a shout, which says nothing without the next one, is part of that."""
    begun: int | None = None
    end = 0
    for start, end in sentences(text):
        begun = start if begun is None else begun
        if text[end - 1] != "!" or end - begun > _LONGEST_SHOUT:
            yield begun, end
            begun = None
    if begun is not None:
        yield begun, end


def _equal_share(lengths: Sequence[int], room: int) -> int:
    """What everyone may have at most, so that all together have no more than *room*."""
    if sum(lengths) <= room:
        return max(lengths, default=0)
    left = room
    for number, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - number)
        if length > share:
            return share
        left -= length
    return room
