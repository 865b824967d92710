"""What items consist of: sentences and calls, each with the terms it speaks of."""

from collections.abc import Iterator, Sequence

from nous.excerpt.concepts import Concepts
from nous.excerpt.items import Item
from nous.prose import Span, sentences

LONGEST_PIECE = 400


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
    """The pieces of every item, in order."""
    concepts = Concepts()
    return [list(_pieces(index, item, concepts)) for index, item in enumerate(items)]


def _pieces(index: int, item: Item, concepts: Concepts) -> Iterator[Piece]:
    bare = concepts.bare(item.text)
    for start, end in _parts(item):
        yield Piece(index, (start, end), concepts.of(bare[start:end]))


def _parts(item: Item) -> Iterator[Span]:
    for start, end in item.parts or sentences(item.text):
        if end - start <= LONGEST_PIECE:
            yield start, end
            continue
        for begun in range(start, end, LONGEST_PIECE):
            yield begun, min(end, begun + LONGEST_PIECE)
