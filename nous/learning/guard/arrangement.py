"""Who does what to whom: whether the same words in two texts stand in the same relation.

`Alice reports to Bob` and `Bob reports to Alice` have the same words; so have `Omar wrote the service in Rust` and `the
service was written in Rust by Omar`. A parser would tell them apart for certain. This allows the few changes of order
that are known to keep the sense, and takes every other for a change of meaning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from nous.learning.guard.adverbs import adverb_moved, without_adverb
from nous.learning.guard.floating import order, positions_agree
from nous.learning.guard.placed import VERBAL, Placed, pairs_of, runs

_ATTRIBUTIVE = frozenset({"of", "in", "for", "from", "to", "on", "at", "be"})
"""What may link a noun to what describes it: `comments in code` are `code comments`, `cache is cold` a `cold cache`."""

_DROPPED = frozenset({*VERBAL, "of", "that"})
"""What may be left out, and a word is to the one before it what it was."""

_DROPPED_OF_EXACT = frozenset({*VERBAL, "of", "in", "on", "at", "for", "every", "when"})
"""The same before a quantity: `runs for 3 hours`, `meets on Fridays`."""


def same_arrangement(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    """Whether *left* and *right*, which hold the same pairs, say the same of each other's words."""
    here, there = _clauses(left), _clauses(right)
    if len(here) > 1 and {name: pairs_of(part) for name, part in here.items()} == {
        name: pairs_of(part) for name, part in there.items()
    }:
        return all(_is_same(part, there[name]) for name, part in here.items())
    is_turned = len(here) > 1 and here.keys() == there.keys() and "because" in here
    return not is_turned and _is_same(left, right)


def _is_same(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    """Whether either may be turned into the other."""
    return _same_clause(left, right) or _same_clause(right, left)


def _clauses(words: Sequence[Placed]) -> dict[str, tuple[Placed, ...]]:
    """The clauses by their conjunctions, if that names each; else everything as one."""
    parts = [(name, tuple(part)) for name, part in groupby(words, key=lambda word: word.clause)]
    return dict(parts) if len(dict(parts)) == len(parts) else {"": tuple(words)}


def _same_clause(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    if adverb_moved(left, right):
        return False
    left, right = without_adverb(left), without_adverb(right)
    left, right = _listed(left, right), _listed(right, left)
    one, other = _active(left, right), _active(right, left)
    if one != tuple(left) and other != tuple(right):
        one, other = left, right  # both are passive: each phrase still shows what it is about
    other = _inverted(other, one)
    one, other = _addressed(one, other), _addressed(other, one)
    one, other = _noun_phrases(one, other), _noun_phrases(other, one)
    if _crossed(one, other) or _reattached(one, other):
        return False
    if _ungoverned(one, other) or _ungoverned(other, one):
        return False
    return order(one, other) == order(other, one) and positions_agree(one, other)


def _listed(words: Sequence[Placed], other: Sequence[Placed]) -> tuple[Placed, ...]:
    """*words* with `Noor and Felix` as `Felix and Noor`, if both have them so and share nothing but the `and`."""
    theirs = {frozenset((a.pair, b.pair)) for a, b in pairwise(other) if b.joined}
    listed = list(words)
    for at, (a, b) in enumerate(pairwise(words)):
        is_whole = a.opens and (b.is_name or at + 2 == len(words) or words[at + 2].opens)
        if b.joined and is_whole and a.marker == b.marker and frozenset((a.pair, b.pair)) in theirs:
            listed[at : at + 2] = sorted((a, b), key=lambda word: word.pair)
    return tuple(listed)


def _active(words: Sequence[Placed], other: Sequence[Placed]) -> tuple[Placed, ...]:
    """`the service was written in Rust by Omar` as `Omar written the service in Rust`.

    If *other* begins with `a push to main`, that is moved as a whole.
    """
    agent = next((run for run in runs(words) if run[0].marker == "by" and not run[-1].is_exact), ())
    start = words.index(agent[0]) if agent else 0
    verbs = next((run for run in reversed(runs(words[:start])) if run[0].marker == "be"), ())
    if not agent or not verbs:
        return tuple(words)
    first, end = words.index(verbs[0]), start + len(agent)
    while end < len(words) and [word.pair for word in words[start : end + 1]] == _firsts(other, end + 1 - start):
        end += 1
    agent = (*(replace(word, marker="") for word in agent), *words[start + len(agent) : end])
    moved = (*agent, *(replace(word, marker="") for word in verbs))
    lead = next((at for at, word in enumerate(words[:first]) if word.is_free), 0)
    if lead and _firsts(words, lead) not in (_firsts(other, lead), _firsts(other[-lead:], lead)):
        lead = 0
    rest = (*words[lead:first], *words[first + len(verbs) : start], *words[end:])
    return (*words[:lead], *moved, *rest)


def _firsts(words: Sequence[Placed], number: int) -> list[int]:
    return [word.pair for word in words[:number]]


def _addressed(words: Sequence[Placed], other: Sequence[Placed]) -> tuple[Placed, ...]:
    """`passwords are hashed with salt` as `hash passwords with salt`, where *other* begins so: `we hash ...`.

    Where both say `is`, they may be `the pool to the left is nearest` and `the nearest pool is to the left`.
    """
    first = next((at for at, word in enumerate(words) if word.marker == "be"), 0)
    if not first or not other or other[0].pair != words[first].pair:
        return tuple(words)
    is_whole = first + 1 == len(words) and words[0].is_told
    if _count_be(words) == _count_be(other) and not is_whole:
        return tuple(words)
    return (replace(words[first], marker=""), *words[:first], *words[first + 1 :])


def _inverted(words: Sequence[Placed], other: Sequence[Placed]) -> tuple[Placed, ...]:
    """`Tim is the owner` as `the owner is Tim`, where *other* has it so, if one is named and none one of many."""
    at = next((at for at, word in enumerate(words) if word.marker == "be"), 0)
    theirs = next((at for at, word in enumerate(other) if word.marker == "be"), 0)
    every = (*words, *other)
    is_certain = any(word.is_name or word.is_exact for word in every) and not any(word.is_one for word in every)
    if not at or not theirs or not is_certain:
        return tuple(words)
    subject, (told, *rest) = words[:at], words[at:]
    is_turned = pairs_of(subject) == pairs_of(other[theirs:]) and pairs_of((told, *rest)) == pairs_of(other[:theirs])
    if not is_turned or not subject[0].is_free or len(subject) * len(other[:theirs]) == 0:
        return tuple(words)
    turned = (replace(word, marker="" if word.marker == "be" else word.marker) for word in (told, *rest))
    return (*turned, *(replace(word, marker="be" if word.is_free else word.marker) for word in subject))


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


def _reattached(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    """Whether a word has changed its preposition for one that means something else."""
    there = {word.pair: word for word in right}
    pairs = ((word, there[word.pair]) for word in left if not word.is_free and not there[word.pair].is_free)
    return any(a.marker != b.marker for a, b in pairs)


def _ungoverned(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    """Whether what is done to something in *left* is done somewhere in *right*: `runs Docker`, `runs in Docker`."""
    bare = {(a.pair, b.pair): b for a, b in pairwise(left) if not b.marker}
    opened = ((b, bare.get((a.pair, b.pair))) for a, b in pairwise(right) if a.marker != b.marker)
    return any(there and not _may_drop(here, there) for here, there in opened)


def _may_drop(governed: Placed, bare: Placed) -> bool:
    """Whether the preposition of *governed* says nothing that *bare*, the same word without it, leaves open."""
    if governed.marker == "to" and bare.is_participle:  # wants them to be used, wants them used
        return True
    return governed.marker in (_DROPPED_OF_EXACT if governed.is_exact else _DROPPED)


def _noun_phrases(words: Sequence[Placed], other: Sequence[Placed]) -> tuple[Placed, ...]:
    """*words* with `comments in the code` turned into `code comments` wherever *other* has it so."""
    follows = {a.pair: b.pair for a, b in pairwise(other) if a.marker == b.marker or (a.is_free and b.is_free)}
    theirs = {word.pair: word.marker for word in other}
    attributive = _ATTRIBUTIVE if _count_be(words) > _count_be(other) else _ATTRIBUTIVE - {"be"}
    turned: tuple[Placed, ...] = ()
    for run in runs(words):
        end = next((at for at, word in enumerate(run, start=1) if _head(turned, follows.get(word.pair))), 0)
        head = _head(turned, follows.get(run[end - 1].pair)) if end and run[0].marker in attributive else ()
        if (
            head
            and _may_turn(run, end, head[0].marker, theirs)
            and _is_phrase((*run[:end],), follows)
            and _is_phrase(head, follows)
            and _is_noun(head, turned)
        ):
            moved = (replace(word, marker=head[0].marker) for word in run[:end])
            turned = (*turned[: len(turned) - len(head)], *moved, *head, *run[end:])
        else:
            turned += run
    return turned


def _count_be(words: Sequence[Placed]) -> int:
    """How often a form of `be` is said. `The server is slow in May` is not `the slow server is in May`."""
    return sum(run[0].marker == "be" or run[0].follows_be for run in runs(words))


def _may_turn(run: Sequence[Placed], end: int, head: str, theirs: Mapping[int, str]) -> bool:
    """Whether the first *end* of *run* describe what is under *head*, and not the rest: `from the staging server`."""
    is_whole = end == len(run) or theirs.get(run[end].pair) != run[0].marker
    return is_whole and (run[0].marker != "to" or head == "be")  # allergic to nuts; but not: sent to the server


def _is_noun(head: Sequence[Placed], before: Sequence[Placed]) -> bool:
    """Whether no verb is in *head*, the end of *before*: not in the order `review the code`."""
    is_certain = len(head) == 1 or head[0].is_told or head[0].marker == "be"
    return is_certain or any(word.is_free for word in before[: -len(head)])


def _is_phrase(words: Sequence[Placed], follows: Mapping[int, int]) -> bool:
    return all(follows.get(a.pair) == b.pair for a, b in pairwise(words))


def _head(before: Sequence[Placed], first: int | None) -> tuple[Placed, ...]:
    """The end of *before* that begins with the pair *first*: the noun phrase that a modifier may describe."""
    return next((tuple(before[at:]) for at, word in enumerate(before) if word.pair == first), ())
