"""Who does what to whom: whether the same words in two texts stand in the same relation.

`Alice reports to Bob` and `Bob reports to Alice` have the same words; so have `Omar wrote the service in Rust` and `the
service was written in Rust by Omar`. A parser would tell them apart for certain. This allows the few changes of order
that are known to keep the sense, and takes every other for a change of meaning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

_VERBAL = ("", "be")
_ATTRIBUTIVE = frozenset({"of", "in", "for", "to", "on", "at", "be"})
"""What may link a noun to what describes it: `comments in code` are `code comments`, `cache is cold` a `cold cache`."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A word at its place in a text. `pair` is the same number for the same word in the other text."""

    pair: int
    marker: str
    is_exact: bool = False

    @property
    def is_free(self) -> bool:
        """Whether only its place says what it does: no preposition does."""
        return self.marker in _VERBAL


def same_arrangement(left: Sequence[Placed], right: Sequence[Placed], alike: Mapping[str, str]) -> bool:
    """Whether *left* and *right*, which hold the same pairs, say the same of each other's words.

    *alike* gives prepositions that may stand for each other the same value.
    """
    one, other = _active(left), _active(right)
    if _crossed(one, other) or _reattached(one, other, alike):
        return False
    one, other = _noun_phrases(one, other), _noun_phrases(other, one)
    return _order(one, other) == _order(other, one) and _positions_agree(one, other)


def _active(words: Sequence[Placed]) -> tuple[Placed, ...]:
    """`the service was written in Rust by Omar` as `Omar written the service in Rust`."""
    agent = next((run for run in _runs(words) if run[0].marker == "by" and not any(word.is_exact for word in run)), ())
    start = words.index(agent[0]) if agent else 0
    verbs = next((run for run in reversed(_runs(words[:start])) if run[0].marker == "be"), ())
    if not agent or not verbs:
        return tuple(words)
    first = words.index(verbs[0])
    rest = (word for word in words[first + len(verbs) :] if word not in agent)
    return (*(replace(word, marker="") for word in (*agent, *verbs)), *words[:first], *rest)


def _runs(words: Sequence[Placed]) -> list[tuple[Placed, ...]]:
    """Neighbours under the same marker."""
    return [tuple(run) for _, run in groupby(words, key=lambda word: word.marker)]


def _crossed(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    """Whether a preposition governs quite other words: `from staging to production`, `from production to staging`."""
    there = _governed(right)
    return any(pairs.isdisjoint(there.get(marker, pairs)) for marker, pairs in _governed(left).items())


def _governed(words: Sequence[Placed]) -> dict[str, set[int]]:
    governed: dict[str, set[int]] = {}
    for word in words:
        if not word.is_free:
            governed.setdefault(word.marker, set()).add(word.pair)
    return governed


def _reattached(left: Sequence[Placed], right: Sequence[Placed], alike: Mapping[str, str]) -> bool:
    """Whether a word has changed its preposition for one that means something else."""
    there = {word.pair: word for word in right}
    pairs = ((word, there[word.pair]) for word in left if not word.is_free and not there[word.pair].is_free)
    return any(alike.get(a.marker, a.marker) != alike.get(b.marker, b.marker) for a, b in pairs)


def _noun_phrases(words: Sequence[Placed], other: Sequence[Placed]) -> tuple[Placed, ...]:
    """*words* with `comments in code` turned into `code comments` wherever *other* has it so."""
    follows = {a.pair: b.pair for a, b in pairwise(other) if a.marker == b.marker or (a.is_free and b.is_free)}
    turned = list(words)
    for at, modifier in enumerate(words):
        head = _head(turned[:at], first=follows.get(modifier.pair)) if modifier.marker in _ATTRIBUTIVE else ()
        if head and all(follows.get(a.pair) == b.pair for a, b in pairwise(head)):
            turned[at - len(head) : at + 1] = [replace(modifier, marker=head[0].marker), *head]
    return tuple(turned)


def _head(before: Sequence[Placed], first: int | None) -> tuple[Placed, ...]:
    """The end of *before* that begins with the pair *first*: the noun phrase that a modifier may describe."""
    return next((tuple(before[at:]) for at, word in enumerate(before) if word.pair == first), ())


def _floating(words: Sequence[Placed], other: Sequence[Placed]) -> set[str]:
    """The prepositions whose phrase may move: each governs the same words, in one place, in both texts."""
    here, there = _phrases(words), _phrases(other)
    return {marker for marker, pairs in here.items() if there.get(marker) == pairs}


def _phrases(words: Sequence[Placed]) -> dict[str, tuple[int, ...]]:
    runs = [run for run in _runs(words) if not run[0].is_free]
    markers = [run[0].marker for run in runs]
    return {
        marker: tuple(word.pair for word in run)
        for marker, run in zip(markers, runs, strict=True)
        if markers.count(marker) == 1
    }


def _order(words: Sequence[Placed], other: Sequence[Placed]) -> list[int]:
    """The pairs that have to keep their order."""
    floating = _floating(words, other)
    return [word.pair for word in words if word.marker not in floating]


def _positions_agree(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    """Whether each moving phrase follows the same word in both, or stands at the edge of both."""
    floating = _floating(left, right)
    here, there = _positions(left, floating), _positions(right, floating)
    last = len(_order(left, right))
    return all(here[marker] == there[marker] or {here[marker], there[marker]} <= {0, last} for marker in floating)


def _positions(words: Sequence[Placed], floating: set[str]) -> dict[str, int]:
    """How many words of fixed place stand before each moving phrase."""
    before, positions = 0, dict[str, int]()
    for word in words:
        if word.marker in floating:
            positions.setdefault(word.marker, before)
        else:
            before += 1
    return positions
