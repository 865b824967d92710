"""Which prepositions stand before the words of two texts, where several say the same."""

from collections.abc import Sequence

from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.pairing import Pairing
from nous.learning.guard.quantities import SPANS
from nous.learning.guard.word import Role, Tense, Word

_WHOSE = {"of", "for"}
_SPANS = tuple(f" {span}" for span in SPANS)


def markers_of(found: Pairing, lexicon: Lexicon) -> list[tuple[str, str]]:
    """What each pair stands under; twice the same, where the prepositions differ and the sense does not."""
    return [_agreed(found, at, other, lexicon) for at, other in found.pairs]


def _agreed(found: Pairing, at: int, other: int, lexicon: Lexicon) -> tuple[str, str]:
    here, there, alike = found.left[at], found.right[other], lexicon.interchangeable
    one, two = here.marker, there.marker
    is_span = here.role is Role.QUANTITY and here.key.endswith(_SPANS)
    if one == two or (is_span and "in" in (one, two)):  # in 3 hours, at 3 hours
        return one, two
    if {one, two} == _WHOSE and _is_from_somebody(found, at, other, lexicon):
        return one, two
    groups = {*_governing(found.left, at, lexicon)} & {*_governing(found.right, other, lexicon)}
    if alike.get(one, one) == alike.get(two, two) or any({one, two} <= group for group in groups):
        return min(one, two), min(one, two)
    if "" in (one, two) and alike.get(one or two) == alike["with"] and _serves(found, at, other, lexicon):
        return "by" if one else "", "by" if two else ""
    return one, two


def _governing(words: Sequence[Word], at: int, lexicon: Lexicon) -> tuple[frozenset[str], ...]:
    """The prepositions that say the same of the word at *at*: those of its verb, which stands before it.

    What the text begins with is of the verb that follows.
    """
    behind = [word for word in words if word.marker != words[at].marker]
    is_first = all(word.marker == words[at].marker for word in words[:at])
    for word in behind if is_first else reversed(words[:at]):
        groups = lexicon.governed.get(word.root) or lexicon.governed.get(word.key)
        if groups and not word.is_told:
            return groups
        if word.marker == "be" or word.tense is Tense.PAST:
            break  # another verb
    return ()


def _serves(found: Pairing, at: int, other: int, lexicon: Lexicon) -> bool:
    """Whether what is named serves a deed in one text, and does it in the other, where it stands before the deed."""
    words, place = (found.right, other) if found.left[at].marker else (found.left, at)
    is_named = Role.NAME in (found.left[at].role, found.right[other].role)
    return is_named and any(word.root in lexicon.means for word in words[place:])


def _is_from_somebody(found: Pairing, at: int, other: int, lexicon: Lexicon) -> bool:
    """Whether what is named is whom something comes from in one text, and whom it is meant for in the other."""
    is_named = Role.NAME in (found.left[at].role, found.right[other].role)
    return is_named and any(word.root in lexicon.sent for word in found.left[:at])
