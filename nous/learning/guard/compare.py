"""Whether two texts that look alike say the same. A cosine cannot tell; this can object."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from nous.learning.guard.arrangement import same_arrangement
from nous.learning.guard.binding import exchanged, opposed, other_persons
from nous.learning.guard.code import code_apart
from nous.learning.guard.conflict import conflicting
from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.markers import markers_of
from nous.learning.guard.pairing import Pairing, paired
from nous.learning.guard.placed import Placed
from nous.learning.guard.reading import Reading
from nous.learning.guard.word import Role, Tense, Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Why the two must be kept apart, in words, or None; and the content words that only one of them has.

    `conflict` says, in words, which value each of them gives to the same thing, where that is all they differ in: as in
    `value 3 / 5`. `is_open` means that the objection is to plain words alone, or to a language that is not known here:
    whoever understands them may still find that they say the same.
    """

    objection: str | None = None
    conflict: str | None = None
    is_open: bool = False
    only_left: tuple[str, ...] = ()
    only_right: tuple[str, ...] = ()


ARRANGED = "the same words in another relation"
"""The objection to two texts that differ in nothing but the order of their words."""

_BE = "is was"
"""The kind of small words that forms of `be` are."""

_NARROWING = frozenset({"if", "unless", "where"})
Check = Callable[[Reading, Reading, Lexicon], str | None]


def compare(left: Reading, right: Reading, lexicon: Lexicon) -> Comparison:
    """Compare two readings: first what is cheap and certain, then word by word.

    Swapping *left* and *right* swaps the words in the answer and changes nothing else.
    """
    checks: tuple[Check, ...] = (
        _quantities,
        _code,
        _negation,
        _language,
        _quantifiers,
        _modals,
        _question,
        _small_words,
        other_persons,
    )
    for check in checks:
        if objection := check(left, right, lexicon):
            conflict = conflicting(left, right, lexicon)
            return Comparison(objection=objection, conflict=conflict, is_open=check is _language)
    found = paired(left.words, right.words, lexicon)
    only_left = tuple(found.left[at] for at in found.only_left)
    only_right = tuple(found.right[at] for at in found.only_right)
    in_words = _in_words(found, only_left, only_right, lexicon)
    in_kind = _names_apart(only_left, only_right) or exchanged(found) or opposed(only_left, only_right, lexicon)
    in_kind = in_kind or (None if in_words else _in_form(found, lexicon))
    objection = in_kind or in_words
    conflict = conflicting(left, right, lexicon) if objection else None
    return Comparison(
        objection=objection,
        conflict=conflict,
        is_open=bool(in_words) and not in_kind and not conflict,
        only_left=tuple(word.text for word in only_left),
        only_right=tuple(word.text for word in only_right),
    )


def _in_words(found: Pairing, left: Sequence[Word], right: Sequence[Word], lexicon: Lexicon) -> str | None:
    """The objection to the words that only *left* and only *right* have."""
    return (
        _words_apart(left, right)
        or _detail_apart(found.left, left, lexicon)
        or _detail_apart(found.right, right, lexicon)
    )


def _in_form(found: Pairing, lexicon: Lexicon) -> str | None:
    """The objection to how the words that both have are put."""
    return _tenses(found) or _voices(found, lexicon) or _arrangement(found, lexicon)


def _quantities(left: Reading, right: Reading, lexicon: Lexicon) -> str | None:
    del lexicon
    return _difference("numbers, dates or identifiers differ", left.quantities, right.quantities)


def _code(left: Reading, right: Reading, lexicon: Lexicon) -> str | None:
    del lexicon
    return code_apart(left.code, right.code)


def _language(left: Reading, right: Reading, lexicon: Lexicon) -> str | None:
    del lexicon
    return None if left.is_understood and right.is_understood else "not in a language whose small words are known"


def _negation(left: Reading, right: Reading, lexicon: Lexicon) -> str | None:
    if len(left.negated) != len(right.negated):
        return "one is negated, the other is not"
    if _language(left, right, lexicon):
        return None  # what is negated is not known
    return None if left.negated == right.negated else "something else is negated"


def _quantifiers(left: Reading, right: Reading, lexicon: Lexicon) -> str | None:
    del lexicon
    return _difference("how often or how many differs", left.quantifiers, right.quantifiers)


def _modals(left: Reading, right: Reading, lexicon: Lexicon) -> str | None:
    del lexicon
    return _difference("what must, may or will be differs", sorted(left.modals), sorted(right.modals))


def _question(left: Reading, right: Reading, lexicon: Lexicon) -> str | None:
    del lexicon
    return None if left.is_question == right.is_question else "one is a question"


def _small_words(left: Reading, right: Reading, lexicon: Lexicon) -> str | None:
    for group in lexicon.exclusive:
        here, there = left.grammar & group, right.grammar & group
        if here - there and there - here:
            return _difference("small words exclude each other", sorted(here), sorted(there))
    return None


def _difference(what: str, left: Sequence[str], right: Sequence[str]) -> str | None:
    """*what*, and what only one of the two has; None where they have the same, in any order."""
    if left == right or sorted(left) == sorted(right):
        return None
    here, there = Counter(left), Counter(right)
    named = (" ".join(sorted((a - b).elements())) or "nothing" for a, b in ((here, there), (there, here)))
    return f"{what}: {' / '.join(named)}"


def _names_apart(only_left: Sequence[Word], only_right: Sequence[Word]) -> str | None:
    here, there = (tuple(word.text for word in side if word.role is Role.NAME) for side in (only_left, only_right))
    return _difference("names differ", here, there)


def _words_apart(only_left: Sequence[Word], only_right: Sequence[Word]) -> str | None:
    if only_left and only_right:
        return f"one says {_quoted(only_left)}, the other {_quoted(only_right)}"
    return None


def _detail_apart(words: Sequence[Word], extra: Sequence[Word], lexicon: Lexicon) -> str | None:
    """Why *extra*, the words that only *words* have, are more than detail: they doubt, narrow, or tell which is meant.

    Detail is a phrase of its own or an adverb: `in production`, `fully`. In `the staging database`, `staging` is not.
    """
    shared = {word.marker for word in words if word not in extra}
    for word in extra:
        if word.is_doubt or word.marker in _NARROWING:
            return f"only one says {word.text}"
        if word.role is Role.WORD and word.root in lexicon.supports:
            continue
        if (word.marker in ("", "be") or word.marker in shared) and not word.text.casefold().endswith("ly"):
            return f"only one speaks of {word.text}"
    return None


def _quoted(words: Iterable[Word]) -> str:
    return " ".join(word.text for word in words)


def _tenses(found: Pairing) -> str | None:
    for at, other in found.pairs:
        here, there = found.left[at], found.right[other]
        if _is_past_apart(here, there) or _is_past_apart(there, here):
            return f"one is past: {here.text} / {there.text}"
    return None


def _is_past_apart(one: Word, other: Word) -> bool:
    is_certain = one.tense is Tense.PAST and (one.marker == "be" or other.tense is not Tense.ASIDE)
    return is_certain and other.tense in (Tense.PRESENT, Tense.ASIDE)


def _voices(found: Pairing, lexicon: Lexicon) -> str | None:
    """Why what one suffers, the other does: `users are notified`, `users notify`."""
    for at, other in found.pairs:
        here, there = found.left[at], found.right[other]
        before = found.left[at - 1] if at else here
        is_thing = before.role is Role.WORD and (at > 1 or before.tense is None)  # the first may be a name
        if is_thing and here.root in lexicon.either:
            continue
        if (at - 1, other - 1) in found.pairs and _is_suffered(here, lexicon) != _is_suffered(there, lexicon):
            active = there if _is_suffered(here, lexicon) else here
            if _is_done(active, lexicon):
                return f"one is done, the other does: {here.text} / {there.text}"
    return None


def _is_suffered(word: Word, lexicon: Lexicon) -> bool:
    return word.role is Role.WORD and word.marker == "be" and lexicon.is_past(word.text.casefold())


def _is_done(word: Word, lexicon: Lexicon) -> bool:
    text = word.text.casefold()
    if word.role is not Role.WORD or word.marker not in ("", "be", "to") or lexicon.is_deed(text):
        return False
    if text.endswith("ing"):
        return word.marker == "be" and word.tense is not None  # not: needs tuning
    return word.marker != "be" and not (word.tense is None and lexicon.is_past(text))


def _arrangement(found: Pairing, lexicon: Lexicon) -> str | None:
    markers = markers_of(found, lexicon)
    here = tuple(_placed(found.left[at], number, lexicon) for number, (at, _) in enumerate(found.pairs))
    numbered = sorted(enumerate(found.pairs), key=lambda numbered: numbered[1][1])
    there = tuple(_placed(found.right[at], number, lexicon) for number, (_, at) in numbered)
    adverbs = {word.pair for word in (*here, *there) if word.is_adverb}
    here = tuple(replace(word, marker=markers[word.pair][0], is_adverb=word.pair in adverbs) for word in here)
    there = tuple(replace(word, marker=markers[word.pair][1], is_adverb=word.pair in adverbs) for word in there)
    return None if same_arrangement(here, there) else ARRANGED


def _is_participle(text: str, lexicon: Lexicon) -> bool:
    return lexicon.is_past(text) or text in lexicon.unmarked or text.endswith("ing")


def _placed(word: Word, pair: int, lexicon: Lexicon) -> Placed:
    text = word.text.casefold()
    return Placed(
        pair,
        word.marker,
        is_exact=word.role is Role.QUANTITY,
        is_name=word.role is Role.NAME,
        is_adverb=word.role is Role.WORD and lexicon.is_adverb(text),
        is_participle=word.role is Role.WORD and _is_participle(text, lexicon),
        follows_be=any(kind == _BE for kind, _ in word.bound),
        clause=word.clause,
        opens=word.opens,
        joined=word.joined,
        is_one=word.is_one,
        is_told=word.is_told,
    )
