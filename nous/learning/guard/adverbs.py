"""What an adverb is about: it may stand before its verb or after it, but not change from one word to another."""

from collections.abc import Sequence

from nous.learning.guard.placed import Placed


def without_adverb(words: Sequence[Placed]) -> tuple[Placed, ...]:
    """*words* less their only adverb."""
    at = _lone(words)
    return tuple(words) if at is None else (*words[:at], *words[at + 1 :])


def adverb_moved(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    """Whether the only adverb has gone from an attribute to the verb, or back: `the manually created backups`."""
    here, there = _lone(left), _lone(right)
    if here is None or there is None:
        return False
    if _is_tied(left, here) or _is_tied(right, there):
        return _beside(left, here).isdisjoint(_beside(right, there))
    behind = (*left[here + 1 : here + 2], *right[there + 1 : there + 2])
    are_others = len({word.pair for word in behind}) > 1 and not any(word.is_told for word in behind)
    return are_others and min(here, there) > 0 and any(map(_is_attribute, behind))


def _lone(words: Sequence[Placed]) -> int | None:
    """The place of the adverb, if there is one and no other."""
    adverbs = [at for at, word in enumerate(words) if word.is_adverb]
    return adverbs[0] if len(adverbs) == 1 else None


def _is_tied(words: Sequence[Placed], at: int) -> bool:
    """Whether the adverb at *at* is in a noun phrase: behind its article, or first of all and before a participle."""
    if at + 1 == len(words):
        return False
    is_first = all(word.is_exact for word in words[:at])
    return words[at].is_told or (is_first and _is_attribute(words[at + 1]))


def _is_attribute(word: Placed) -> bool:
    """Whether it may be told of the noun behind it: `failed requests`; but not: `the failed`."""
    return word.is_participle and word.marker != "be" and not word.is_told


def _beside(words: Sequence[Placed], at: int) -> set[int]:
    """What the adverb at *at* may be about: what is behind it, or the participle before it."""
    before = words[at - 1 : at] if at and words[at - 1].is_participle and not _is_tied(words, at) else ()
    return {word.pair for word in (*before, *words[at + 1 : at + 2])}
