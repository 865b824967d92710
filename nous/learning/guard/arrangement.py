"""Who does what to whom: whether the same words in two texts stand in the same relation.

`Alice reports to Bob` and `Bob reports to Alice` have the same words; so have `Omar wrote the service in Rust` and `the
service was written in Rust by Omar`. A parser would tell them apart for certain. This allows the few changes of order
that are known to keep the sense, and takes every other for a change of meaning.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

_VERBAL = ("", "be")
_ATTRIBUTIVE = frozenset({"of", "in", "for", "from", "to", "on", "at", "be"})
"""What may link a noun to what describes it: `comments in code` are `code comments`, `cache is cold` a `cold cache`."""

_LOCAL = frozenset({"in", "on", "at", "with", "from", "for", "about", "under", "over", "against"})


@dataclass(frozen=True, slots=True)
class Placed:
    """A word at its place in a text. `pair` is the same number for the same word in the other text.

    The rest is as in `reading.Word`.
    """

    pair: int
    marker: str
    is_exact: bool = False
    is_name: bool = False
    is_adverb: bool = False
    clause: str = ""
    opens: bool = False
    joined: bool = False
    is_one: bool = False
    is_told: bool = False

    @property
    def is_free(self) -> bool:
        """Whether only its place says what it does: no preposition does."""
        return self.marker in _VERBAL


def same_arrangement(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    """Whether *left* and *right*, which hold the same pairs, say the same of each other's words."""
    here, there = _clauses(left), _clauses(right)
    if len(here) > 1 and {name: _pairs(part) for name, part in here.items()} == {
        name: _pairs(part) for name, part in there.items()
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


def _pairs(words: Iterable[Placed]) -> set[int]:
    return {word.pair for word in words}


def _same_clause(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    left, right = _without_adverb(left), _without_adverb(right)
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
    return _order(one, other) == _order(other, one) and _positions_agree(one, other)


def _without_adverb(words: Sequence[Placed]) -> tuple[Placed, ...]:
    """*words* less their only adverb: with one, there is nothing else that it could be about."""
    is_lone = sum(word.is_adverb for word in words) == 1
    return tuple(word for word in words if not (is_lone and word.is_adverb))


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
    agent = next((run for run in _runs(words) if run[0].marker == "by" and not run[-1].is_exact), ())
    start = words.index(agent[0]) if agent else 0
    verbs = next((run for run in reversed(_runs(words[:start])) if run[0].marker == "be"), ())
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
    """`passwords are hashed with salt` as `hash passwords with salt`, where *other* begins so: `we hash ...`."""
    first = next((at for at, word in enumerate(words) if word.marker == "be"), 0)
    if not first or not other or other[0].pair != words[first].pair:
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
    is_turned = _pairs(subject) == _pairs(other[theirs:]) and _pairs((told, *rest)) == _pairs(other[:theirs])
    if not is_turned or not subject[0].is_free or len(subject) * len(other[:theirs]) == 0:
        return tuple(words)
    turned = (replace(word, marker="" if word.marker == "be" else word.marker) for word in (told, *rest))
    return (*turned, *(replace(word, marker="be" if word.is_free else word.marker) for word in subject))


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


def _reattached(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    """Whether a word has changed its preposition for one that means something else."""
    there = {word.pair: word for word in right}
    pairs = ((word, there[word.pair]) for word in left if not word.is_free and not there[word.pair].is_free)
    return any(a.marker != b.marker for a, b in pairs)


def _ungoverned(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    """Whether what is done to something in *left* is done somewhere in *right*: `runs Docker`, `runs in Docker`."""
    before = {b.pair: a.pair for a, b in pairwise(left) if not b.marker}
    return any(
        b.marker in _LOCAL and not b.is_exact and before.get(b.pair) == a.pair and a.marker != b.marker
        for a, b in pairwise(right)
    )


def _noun_phrases(words: Sequence[Placed], other: Sequence[Placed]) -> tuple[Placed, ...]:
    """*words* with `comments in the code` turned into `code comments` wherever *other* has it so."""
    follows = {a.pair: b.pair for a, b in pairwise(other) if a.marker == b.marker or (a.is_free and b.is_free)}
    theirs = {word.pair: word.marker for word in other}
    turned: tuple[Placed, ...] = ()
    for run in _runs(words):
        end = next((at for at, word in enumerate(run, start=1) if _head(turned, follows.get(word.pair))), 0)
        head = _head(turned, follows.get(run[end - 1].pair)) if end and run[0].marker in _ATTRIBUTIVE else ()
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
    """Whether each moving phrase follows the same word in both, or stands in both where it is about the whole."""
    floating = _floating(left, right)
    here, there = _positions(left, floating), _positions(right, floating)
    is_agent_told = any(word.marker == "by" for word in (*left, *right))
    edges = {marker: (_edge(here[marker], left, floating), _edge(there[marker], right, floating)) for marker in here}
    return all(
        here[marker] == there[marker]
        or (marker != "of" and _is_whole(*edges[marker], is_agent_told=is_agent_told))
        or (here[marker] == 0 and there[marker] == _joint(right, floating))
        or (there[marker] == 0 and here[marker] == _joint(left, floating))
        for marker in floating
    )


def _positions(words: Sequence[Placed], floating: set[str]) -> dict[str, int]:
    """How many words of fixed place stand before each moving phrase; for `of`, which one does, whatever its place."""
    before, positions = 0, dict[str, int]()
    for at, word in enumerate(words):
        if word.marker == "of" and at and "of" in floating:
            positions.setdefault("of", -1 - words[at - 1].pair)
        elif word.marker in floating:
            positions.setdefault(word.marker, before)
        else:
            before += 1
    return positions


def _edge(position: int, words: Sequence[Placed], floating: set[str]) -> str:
    """Where in the clause a phrase at *position* is: first, last, or with the subject: `the limit for guests is 5`."""
    fixed = [word for word in words if word.marker not in floating]
    is_at = next((at for at, word in enumerate(fixed) if word.marker == "be"), 0)
    return {len(fixed): "last", is_at: "subject", 0: "first"}.get(position, "")


def _is_whole(one: str, other: str, *, is_agent_told: bool) -> bool:
    """Whether a phrase at each of two edges is about the whole.

    Where it is told who acts, that is in doubt: `users in Lyon are led by teams`, who is there?
    """
    return bool(one and other) and not (is_agent_told and {one, other} == {"subject", "last"})


def _joint(words: Sequence[Placed], floating: set[str]) -> int | None:
    """The end of a first clause: `on Fridays the team tests and deploys` is `the team tests on Fridays and deploys`."""
    fixed = [word for word in words if word.marker not in floating]
    return next((at for at, word in enumerate(fixed) if word.joined), None)
