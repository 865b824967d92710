"""Compare statements by words: differences, vetoes on near texts, duplicate likelihood."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, cached_property
from importlib.resources import files
from itertools import groupby, product

from nous.knowledge.equivalence.reading import ParsedStatement, Word, stems

MOST_ALIGNED = 200  # maximum words of each statement that are aligned; the time grows with their square
_PASSIVE = re.compile(r"\b(?:is|are|was|were|been|be|being) (?:\w+ ){1,6}?by\b")


@dataclass(frozen=True)
class Difference:
    """Two parsed statements, and the content words that only one of them has, in order."""

    left: ParsedStatement
    right: ParsedStatement
    only_left: tuple[Word, ...]
    only_right: tuple[Word, ...]

    @cached_property
    def containment(self) -> tuple[float, float]:
        """Return which part of the left is in the right, and the reverse, by weight."""
        return _part(self.left.words, self.only_left), _part(self.right.words, self.only_right)

    @cached_property
    def alignment(self) -> tuple[float, float, int]:
        """Return the longest common run, the words common in order, and the regions that differ.

        The first two are fractions of the shorter statement; the third is a count.
        """
        keys = sorted([word.key for word in each.words[:MOST_ALIGNED]] for each in (self.left, self.right))
        matcher = SequenceMatcher(None, *keys, autojunk=False)
        blocks = [block.size for block in matcher.get_matching_blocks()]
        shorter = max(min(map(len, keys)), 1)
        regions = sum(each[0] != "equal" for each in matcher.get_opcodes())
        return max(blocks) / shorter, sum(blocks) / shorter, regions

    @cached_property
    def objection(self) -> str | None:
        if objection := vetoed(self):
            return objection
        if self.only_left and self.only_right:
            return f"one says {texts(self.only_left)}, the other {texts(self.only_right)}"
        return None if self.only_left or self.only_right else _rearranged(self.left, self.right)

    @property
    def is_equal(self) -> bool:
        return bool(self.left.words) and not (self.only_left or self.only_right or self.objection)


def difference(left: ParsedStatement, right: ParsedStatement) -> Difference:
    """Return the words that only one statement has.

    A literal may be part of a literal on the other side. Light words may be missing on one side.
    """
    only_left, only_right = _minus(left, right), _minus(right, left)
    for one in [word for word in only_left if word.is_literal]:
        match = next((two for two in only_right if two.is_literal and _is_part(one.key, two.key)), None)
        if match:
            only_left.remove(one)
            only_right.remove(match)
    if not (only_left and only_right):
        only_left, only_right = _heavy(only_left), _heavy(only_right)
    return Difference(left, right, tuple(only_left), tuple(only_right))


def vetoed(found: Difference, *, is_reworded: bool = False) -> str | None:
    """Return why the two must not merge, or None.

    Vetoes: only one is a question, denies something, or has a word opposite to the other's; or they differ in
    conditions, in quantity or frequency, or in certainty. With *is_reworded*, conditions are a veto only if both have
    some and share none.
    """
    left, right = found.left, found.right
    if left.is_question != right.is_question:
        return "one is a question"
    if objection := denied(left, right) or opposed(left, right):
        return objection
    here, there = left.groups("conditions"), right.groups("conditions")
    if here.isdisjoint(there) and here and there if is_reworded else here != there:
        return "one holds in a case alone"
    if left.groups("quantifiers") != right.groups("quantifiers"):
        return "how often or how many differs"
    return "how certain or how far along differs" if left.groups("stances") != right.groups("stances") else None


def denied(left: ParsedStatement, right: ParsedStatement) -> str | None:
    """Return which words one denies or passes over, and the other does not, or None."""
    no, yes, other_no, other_yes = (
        frozenset(word.key for word in each.words if (word.is_denied or word.is_passed) is is_no)
        for each, is_no in product((left, right), (True, False))
    )
    found = sorted(((other_yes - other_no) & (no - yes)) | ((yes - no) & (other_no - other_yes)))
    return f"only one denies {' '.join(found)}" if found else None


def opposed(left: ParsedStatement, right: ParsedStatement) -> str | None:
    """Return an objection if both have words that exclude each other, and neither has both."""
    groups = {group for group, _ in left.opposites} - {group for group, _ in left.opposites & right.opposites}
    return "they have opposites" if any(group in groups for group, _ in right.opposites) else None


def texts(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)


def _minus(reading: ParsedStatement, other: ParsedStatement) -> list[Word]:
    left = Counter(word.key for word in other.words)
    found: list[Word] = []
    for word in reading.words:
        left[word.key] -= 1
        if left[word.key] < 0:
            found.append(word)
    return found


def _rearranged(left: ParsedStatement, right: ParsedStatement) -> str | None:
    if left.negations != right.negations:
        return "one is negated, the other is not"
    if left.is_past != right.is_past:
        return "one is past"
    if left.scopes != right.scopes:
        return "small words differ"
    return None if _arranged(left) == _arranged(right) else "the same words in another relation"


def _arranged(reading: ParsedStatement) -> list[str | frozenset[tuple[str, str]]]:
    """Return the words in the order that matters for the meaning.

    Words without a preposition keep their order, agents of a passive first. The prepositional phrases between them are
    sets. A phrase that opens a statement stands at its end.
    """
    words = _heavy(reading.words)
    agents = [word for word in words if word.marker == "by" and _PASSIVE.search(reading.text)]
    if agents:
        at = words.index(agents[0])
        verb = next((word for word in reversed(words[:at]) if not word.marker), agents[0])
        words = [verb, *(word for word in words if word is not verb and word not in agents)]
    opening = next((at for at, word in enumerate(words) if not word.marker), 0)
    found: list[str | frozenset[tuple[str, str]]] = [word.key for word in agents]
    for is_governed, run in groupby(words[opening:] + words[:opening], key=lambda word: bool(word.marker)):
        keys = [(word.marker, "not " * word.is_denied + word.key) for word in run]
        found.extend([frozenset(keys)] if is_governed else [key for _, key in keys])
    return found


def _is_part(one: str, other: str) -> bool:
    """Return whether one literal is part of the other, as a file of a path; numbers are not."""
    part, whole = sorted((one, other), key=len)
    at = -1 if part.isdecimal() or len(part) < 3 else whole.find(part)
    end = at + len(part)
    return at >= 0 and not whole[at - 1 : at].isalnum() and not whole[end : end + 1].isalnum()


def _part(words: Sequence[Word], missing: Sequence[Word]) -> float:
    """Return the fraction of *words* that are not *missing*; names and literals weigh most."""
    weights = [
        sum(2.0 if w.is_literal else 1.5 if w.is_name else 0.5 if len(w.key) <= 3 else 1.0 for w in each)
        for each in (words, missing)
    ]
    return 1 - weights[1] / max(weights[0], 0.1)


def _heavy(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.is_literal or word.is_denied or word.key not in stems("light")]


def has_literal(words: Sequence[Word]) -> bool:
    return any(word.is_literal for word in words)


@cache
def shipped() -> tuple[float, Mapping[str, tuple[float, float, float]]]:
    """Return the bias, and mean, deviation and weight by feature, as train_duplicates.py writes."""
    found = json.loads(files("nous.knowledge.equivalence").joinpath("weights.json").read_text(encoding="utf-8"))
    return found["bias"], {name: tuple(each) for name, each in found["features"].items()}


def likelihood(found: Difference, cosine: float) -> float:
    """Return the probability (0 to 1) that two statements say the same, or one all of the other."""
    bias, weights = shipped()
    values = features(found, cosine)
    scaled = (weight * (values[name] - mean) / deviation for name, (mean, deviation, weight) in weights.items())
    return 1 / (1 + math.exp(-max(min(bias + sum(scaled), 30.0), -30.0)))


def features(found: Difference, cosine: float) -> dict[str, float]:
    """Return the classifier's features; swapping the statements does not change them."""
    both = found.left, found.right
    sizes = sorted(len(each.words) for each in both)
    # A path that opens a statement is its subject.
    topics = [next((w.key for w in each.words[:1] if w.is_literal and "/" in w.key), None) for each in both]
    run, aligned, regions = found.alignment
    unshared = min(sum(word.is_literal for word in each) for each in (found.only_left, found.only_right))
    return {
        "cosine": cosine,
        "containment": max(found.containment),
        "literals_of_both": math.log1p(unshared),
        "without_literals": float(not all(any(word.is_literal for word in each.words) for each in both)),
        "same_topic": float(topics[0] is not None and topics[0] == topics[1]),
        "other_topic": float(None not in topics and topics[0] != topics[1]),
        "denied": float(bool(denied(*both))),
        "opposed": float(bool(opposed(*both))),
        "aligned": aligned,
        "longest_run": run,
        "one_region": float(regions == 1),
        "shorter": math.log1p(sizes[0]),
        "ratio": sizes[0] / max(sizes[1], 1),
    }
