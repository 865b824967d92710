"""Which word of one text is which of the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.stem import related
from nous.learning.guard.word import ONE, Role, Word

_ANYBODY = "team"
"""Whose doing need not be told: `the team hashes passwords` is `passwords are hashed`."""

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Pairing:
    """The words of both texts; which are the same, by place; and the places that have no partner."""

    left: tuple[Word, ...]
    right: tuple[Word, ...]
    pairs: tuple[Pair, ...]
    only_left: tuple[int, ...]
    only_right: tuple[int, ...]


def paired(left: Sequence[Word], right: Sequence[Word], lexicon: Lexicon) -> Pairing:
    """Pair the words that are the same, then those that are related, each with the first that is free."""
    here, there = _fused(left, right, lexicon), _fused(right, left, lexicon)
    free_here, free_there = list(range(len(here))), list(range(len(there)))
    pairs: list[Pair] = []
    for is_partner in (_is_same, _is_related):
        for at in tuple(free_here):
            partner = next((other for other in free_there if is_partner(here[at], there[other], lexicon)), None)
            if partner is not None:
                pairs.append((at, partner))
                free_here.remove(at)
                free_there.remove(partner)
    return Pairing(
        here,
        there,
        tuple(sorted(pairs)),
        tuple(at for at in free_here if not _is_empty(at, here, there, lexicon)),
        tuple(at for at in free_there if not _is_empty(at, there, here, lexicon)),
    )


def _fused(words: Sequence[Word], others: Sequence[Word], lexicon: Lexicon) -> tuple[Word, ...]:
    """*words* with `time zone` as one word wherever *others* have `timezone`."""
    known = {word.text.casefold() for word in others if word.role is not Role.QUANTITY}
    return tuple(_in_one(words, known, lexicon))


def _in_one(words: Sequence[Word], known: set[str], lexicon: Lexicon) -> Iterator[Word]:
    at = 0
    while at < len(words):
        text = "".join(word.text for word in words[at : at + 2]).casefold()
        is_one = at + 1 < len(words) and text in known and not words[at + 1].opens
        yield replace(words[at], text=text, key=lexicon.key(text)) if is_one else words[at]
        at += 1 + is_one


def _is_same(one: Word, other: Word, lexicon: Lexicon) -> bool:
    del lexicon
    if one.role is Role.WORD and other.role is Role.WORD:
        return one.key == other.key or one.text.casefold() == other.text.casefold()  # of which one may be a name
    are_codes = one.role is other.role is Role.NAME and one.text.isupper() and other.text.isupper()  # ADD, PUT
    return (one.key == other.key and not are_codes) or one.text.casefold() == other.text.casefold()


def _is_related(one: Word, other: Word, lexicon: Lexicon) -> bool:
    if one.role is not Role.WORD or other.role is not Role.WORD:
        return False
    return related(one.key, other.key) and frozenset((one.key, other.key)) not in lexicon.lookalikes


def _is_empty(at: int, words: Sequence[Word], others: Sequence[Word], lexicon: Lexicon) -> bool:
    """Whether the word says nothing that *others* do not.

    So does `one` where they have `a`, the name in `is Python 3.11` where both say that it is Python's version, the team
    that does what they say is done, and what `file` says of a path, unless they call it a folder.
    """
    if at + 1 == len(words):
        return False
    word, following = words[at], words[at + 1]
    if word.key == ONE:
        return any(other.is_one and other.key == following.key for other in others)
    if at == 0 and word.root == _ANYBODY:
        deeds = (other for other in others if other.marker == "be" or lexicon.is_deed(other.text.casefold()))
        return any(_is_same(following, deed, lexicon) or _is_related(following, deed, lexicon) for deed in deeds)
    if word.root in lexicon.classes and following.role is Role.QUANTITY:
        befores = (before for before, other in pairwise(others) if other.key == following.key)
        return not following.key[0].isdigit() and all(before.root not in lexicon.classes for before in befores)
    is_repeated = any(other.key == word.key for other in words[:at])
    return word.role is Role.NAME and following.role is Role.QUANTITY and is_repeated
