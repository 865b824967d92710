"""Whether two statements that look alike say the same. A cosine cannot tell; this can object."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import groupby, pairwise

from nous.learning.equivalence.lexicon import english
from nous.learning.equivalence.reading import Reading, Word

MOST_ALIGNED = 200
"""Words of each statement that are aligned, which takes time in proportion to their square."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Why the two must be kept apart, in words, or None; and the words of content that only one of them has.

    `is_open` means that the objection is to plain words alone: who understands them may find that they say the same.
    """

    objection: str | None = None
    is_open: bool = False
    only_left: tuple[str, ...] = ()
    only_right: tuple[str, ...] = ()


@dataclass(frozen=True)
class Difference:
    """Two readings, and the words of content that only one of them has, in order."""

    left: Reading
    right: Reading
    only_left: tuple[Word, ...]
    only_right: tuple[Word, ...]

    @cached_property
    def containment(self) -> tuple[float, float]:
        """How much of the left the right has, by weight, and how much of the right the left has."""
        return _part(self.left.words, self.only_left), _part(self.right.words, self.only_right)

    @cached_property
    def alignment(self) -> tuple[float, float, int]:
        """The longest run of words and all words that both have in one order, as parts of the shorter; the regions
        in which they differ."""
        keys = [[word.key for word in each.words[:MOST_ALIGNED]] for each in (self.left, self.right)]
        matcher = SequenceMatcher(None, *keys, autojunk=False)
        blocks = [block.size for block in matcher.get_matching_blocks()]
        shorter = max(min(map(len, keys)), 1)
        regions = sum(each[0] != "equal" for each in matcher.get_opcodes())
        return max(blocks) / shorter, sum(blocks) / shorter, regions


    @cached_property
    def is_free_of_detail(self) -> bool:
        """Return whether no detail tells the two apart: no number or code on both sides, nothing denied or limited.

        Of statements in other words, conditions are: `when it runs` may be `on running`.
        """
        left, right = self.left, self.right
        if vetoed(left, right, is_reworded=True) or left.additions != right.additions:
            return False
        if any(word.is_literal for word in self.only_left) and any(word.is_literal for word in self.only_right):
            return False
        return bool(self.only_left or self.only_right) and (self.alignment[2] > 1 or not self.only_left or not self.only_right)


    @property
    def is_detail(self) -> bool:
        """Return whether the two are one sentence but for a word or two, or for the order, or has other numbers."""
        if all(any(word.key.isdecimal() for word in each) for each in (self.only_left, self.only_right)):
            return True
        return max(len(self.only_left), len(self.only_right)) <= 2 and self.alignment[2] <= 2


def difference(left: Reading, right: Reading) -> Difference:
    """Return what only one of two readings says. A literal may stand within one of the other's."""
    only_left, only_right = _minus(left, right), _minus(right, left)
    for one in [word for word in only_left if word.is_literal]:
        match = next((two for two in only_right if two.is_literal and _is_part(one.key, two.key)), None)
        if match:
            only_left.remove(one)
            only_right.remove(match)
    if not (only_left and only_right):
        only_left, only_right = _heavy(only_left), _heavy(only_right)
    return Difference(left, right, tuple(only_left), tuple(only_right))


def compare(found: Difference) -> Comparison:
    """Compare two readings. Swapping them swaps the words in the answer and changes nothing else."""
    left, right = found.left, found.right
    texts = {"only_left": _texts(found.only_left), "only_right": _texts(found.only_right)}
    if objection := vetoed(left, right):
        return Comparison(objection=objection, **texts)
    if found.only_left and found.only_right:
        objection = f"one says {' '.join(texts['only_left'])}, the other {' '.join(texts['only_right'])}"
        is_hard = _has_detail(found.only_left) and _has_detail(found.only_right)
        return Comparison(objection=objection, is_open=not is_hard, **texts)
    is_equal = not found.only_left and not found.only_right
    return Comparison(objection=_rearranged(left, right) if is_equal else None, **texts)


def vetoed(left: Reading, right: Reading, *, is_reworded: bool = False) -> str | None:
    """Return the objection to what both say: denied, opposite, or said of how often or of a case by one alone."""
    if left.is_question != right.is_question:
        return "one is a question"
    return denied(left, right) or opposed(left, right) or limited(left, right, is_reworded=is_reworded)


def is_reordered(found: Difference) -> bool:
    """Return whether the left says all that the right says, in the same order but for the verb that leads one of them."""
    if found.only_right or vetoed(found.left, found.right):
        return False
    keys = [[word.key for word in each.words if word not in found.only_left] for each in (found.left, found.right)]
    leads = [each[0] for each in keys if each]
    return any(
        [key for key in keys[0] if key != lead] == [key for key in keys[1] if key != lead] for lead in leads
    )


def _minus(reading: Reading, other: Reading) -> list[Word]:
    left = Counter(word.key for word in other.words)
    found: list[Word] = []
    for word in reading.words:
        if left[word.key] > 0:
            left[word.key] -= 1
        else:
            found.append(word)
    joined = {one.key + two.key for one, two in pairwise(other.words)}
    keys = other.keys
    pairs = {at for at, (one, two) in enumerate(pairwise(found)) if one.key + two.key in keys}
    return [w for at, w in enumerate(found) if w.key not in joined and at not in pairs and at - 1 not in pairs]


def denied(left: Reading, right: Reading) -> str | None:
    for one, other in ((left, right), (right, left)):
        plain = {word.key for word in other.words if not (word.is_negated or word.is_contrast)}
        denied = {word.key for word in one.words if word.is_negated or word.is_contrast}
        affirmed = {word.key for word in one.words if not (word.is_negated or word.is_contrast)}
        chosen = {word.key for word in other.words if word.is_negated or word.is_contrast}
        if found := sorted((plain - chosen) & (denied - affirmed)):
            return f"only one denies {' '.join(found)}"
    return None


def opposed(left: Reading, right: Reading) -> str | None:
    for group in {group for group, _ in left.opposites} & {group for group, _ in right.opposites}:
        here = {side for each, side in left.opposites if each == group}
        there = {side for each, side in right.opposites if each == group}
        if here.isdisjoint(there):
            words = english().opposites
            named = (sorted(w for w in each.small if words.get(w, (None, 0))[0] == group) for each in (left, right))
            return f"opposites: {' / '.join(map(' '.join, named))}"
    return None


def limited(left: Reading, right: Reading, *, is_reworded: bool = False) -> str | None:
    is_case = left.conditions != right.conditions
    if is_reworded:
        is_case = bool(left.conditions and right.conditions and left.conditions.isdisjoint(right.conditions))
    if is_case:
        return "one holds in a case alone"
    if left.quantifiers != right.quantifiers:
        return "how often or how many differs"
    return "how certain or how far along differs" if _doubts(left) != _doubts(right) else None


def _doubts(reading: Reading) -> frozenset[int]:
    words = english()
    return frozenset(words.stances[word] for word in reading.stances - words.mild)


def _rearranged(left: Reading, right: Reading) -> str | None:
    """The objection to the same words in another relation."""
    if left.negations != right.negations:
        return "one is negated, the other is not"
    if left.is_past != right.is_past:
        return "one is past"
    if left.scopes != right.scopes:
        return "small words differ"
    return None if _arranged(left) == _arranged(right) else "the same words in another relation"


def _arranged(reading: Reading) -> list[str | frozenset[tuple[str, str]]]:
    """The words that nothing governs in order, the agent of a passive first, and the phrases between them as sets.

    A phrase that opens a statement stands at its end.
    """
    words = [word for word in reading.words if word.is_literal or word.key not in english().light]
    agents = [word for word in words if word.marker == "by" and reading.is_passive]
    if agents:
        at = words.index(agents[0])
        verb = next((word for word in reversed(words[:at]) if not word.marker), agents[0])
        words = [verb, *(word for word in words if word is not verb and word not in agents)]
    opening = next((at for at, word in enumerate(words) if not word.marker), 0)
    words = words[opening:] + words[:opening]
    found: list[str | frozenset[tuple[str, str]]] = [word.key for word in agents]
    for is_governed, run in groupby(words, key=lambda word: bool(word.marker)):
        keys = [(word.marker, "not " * word.is_negated + word.key) for word in run]
        found.extend([frozenset(keys)] if is_governed else [key for _, key in keys])
    return found


def _is_part(one: str, other: str) -> bool:
    """Return whether one of two literals is part of the other: a file of a path, a name of a call. No number is."""
    part, whole = sorted((one, other), key=len)
    at = -1 if part.isdecimal() or len(part) < 3 else whole.find(part)
    end = at + len(part)
    return at >= 0 and not whole[at - 1 : at].isalnum() and not whole[end : end + 1].isalnum()


def _part(words: Sequence[Word], missing: Sequence[Word]) -> float:
    return 1 - sum(map(_weight, missing)) / max(sum(map(_weight, words)), 0.1)


def _weight(word: Word) -> float:
    """How much a word says: code, numbers and names the most, short words the least."""
    if word.is_literal:
        return 2.0
    return 1.5 if word.is_name else 0.5 if len(word.key) <= 3 else 1.0


def _heavy(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.is_literal or word.key not in english().light]


def _has_detail(words: Iterable[Word]) -> bool:
    return any(word.is_literal or word.is_name for word in words)


def _texts(words: Iterable[Word]) -> tuple[str, ...]:
    return tuple(word.text for word in words)
