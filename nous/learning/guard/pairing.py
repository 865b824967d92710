"""Which word of one text is which of the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

from nous.learning.guard.agents import as_deed, is_turned
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
    left, right = as_deed(left, right, lexicon), as_deed(right, left, lexicon)
    here, there = _fused(left, right, lexicon), _fused(right, left, lexicon)
    free_here, free_there = list(range(len(here))), list(range(len(there)))
    pairs: list[Pair] = []
    for is_partner in (_is_same, _is_related):
        for at in tuple(free_here):
            alike = (other for other in free_there if is_partner(here[at], there[other], lexicon))
            partner = next((other for other in alike if not is_turned(here, at, there, other, lexicon)), None)
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
    if one.role is Role.WORD and other.role is Role.WORD:
        if _is_gerund_apart(one, other, lexicon) or _is_gerund_apart(other, one, lexicon):
            return False
        return one.key == other.key or one.text.casefold() == other.text.casefold()  # of which one may be a name
    are_codes = one.role is other.role is Role.NAME and one.text.isupper() and other.text.isupper()  # ADD, PUT
    return (one.key == other.key and not are_codes) or one.text.casefold() == other.text.casefold()


def _is_gerund_apart(one: Word, other: Word, lexicon: Lexicon) -> bool:
    """Whether *one* is an action or what it made, and *other* a thing: `the building`, `the build`."""
    text, thing = one.text.casefold(), other.text.casefold()
    if not text.endswith(("ing", "ings")) or thing.endswith(("ing", "ings")) or text in lexicon.same:
        return False
    is_noun = (other.is_told or other.is_one) and not lexicon.is_past(thing)
    return is_noun or text.endswith("ings")


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
        return _is_done(words[1:], others, lexicon)
    if word.root in lexicon.classes and following.role is Role.QUANTITY:
        befores = (before for before, other in pairwise(others) if other.key == following.key)
        return not following.key[0].isdigit() and all(before.root not in lexicon.classes for before in befores)
    is_repeated = any(other.key == word.key for other in words[:at])
    return word.role is Role.NAME and following.role is Role.QUANTITY and is_repeated


def _is_done(deed: Sequence[Word], others: Sequence[Word], lexicon: Lexicon) -> bool:
    """Whether *others* tell, too, what *deed* begins with and somebody does; not: `team backups are encrypted`."""
    first, rest = deed[0], deed[1:]
    is_subject = any(word.marker == "be" for word in rest)
    for other, following in zip_longest(others, others[1:]):
        if not _is_same(first, other, lexicon) and not _is_related(first, other, lexicon):
            continue
        if other.marker == "be":
            return True
        is_before_verb = bool(rest and following) and not rest[0].marker and _is_same(rest[0], following, lexicon)
        if lexicon.is_deed(other.text.casefold()) and not is_subject and not is_before_verb:
            return True
    return False
