"""A word as an arrangement sees it: not what it means, but where it stands, and under what."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

VERBAL = frozenset({"", "be"})
"""What a word stands under that no preposition governs."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A word at its place in a text. `pair` is the same number for the same word in the other text.

    A word `is_exact` that is a quantity; it `is_participle` that ends like one: `growing`, `exposed`. It `follows_be`
    where `is` or `was` stands before it, with or without a preposition. The rest is as in `word.Word`.
    """

    pair: int
    marker: str
    is_exact: bool = False
    is_name: bool = False
    is_adverb: bool = False
    is_participle: bool = False
    follows_be: bool = False
    clause: str = ""
    opens: bool = False
    joined: bool = False
    is_one: bool = False
    is_told: bool = False

    @property
    def is_free(self) -> bool:
        """Whether only its place says what it does: no preposition does."""
        return self.marker in VERBAL


def runs(words: Sequence[Placed]) -> list[tuple[Placed, ...]]:
    """Neighbours under the same marker."""
    return [tuple(run) for _, run in groupby(words, key=lambda word: word.marker)]


def pairs_of(words: Iterable[Placed]) -> set[int]:
    return {word.pair for word in words}
