"""Whether a later statement gives another value to what an earlier one tells of, so that only the later one is true.

A false update hides a true fact, a missed one shows both. So it takes one of: another number or command in the very same
sentence, the same choice the other way round, or words that say that something has changed.
"""

import re
from typing import NamedTuple

from nous.learning.equivalence.compare import Difference
from nous.learning.equivalence.lexicon import english
from nous.learning.equivalence.reading import Reading, Word, read

TAKEN_UP = 0.65
"""The part of the earlier statement that the later one has to take up where no equal subject holds them together."""

MOST_WORDS = 2
"""The words of a predicate that may be other ones in a possible update."""

_VALUE = re.compile(r"v?\d[\d.,:/-]*")
_COMMAND = re.compile(r"`[^`]+`")


class Update(NamedTuple):
    """What changes, in words; and whether that is certain enough for the earlier statement to be hidden."""

    reason: str
    is_sure: bool


def update(found: Difference, *, subject: str = "", other_subject: str = "") -> Update | None:
    """Return what the left statement of *found*, the later one, changes of the right, or None if both may hold.

    *subject* and *other_subject* name what the two are about; empty where that is not known.
    """
    newer, older = found.left, found.right
    words = english()
    if newer.is_question or older.is_question or newer.conditions != older.conditions or _is_unsettled(newer):
        return None
    if not newer.small.isdisjoint(words.additions):
        return None
    topics = read(subject), read(other_subject)
    is_same = _is_same_topic(found, *topics)
    is_case = not (newer.small & words.cases) <= older.small
    if reason := _value(found, is_same=is_same) or _choice(found):
        return Update(reason, is_sure=is_same is not False)
    return _changed(found, topics, is_same=is_same and not is_case) or _other_word(found)


def _is_same_topic(found: Difference, one: Reading, other: Reading) -> bool | None:
    """Return whether both are about the same, going by the names of the subjects; None where one has no name."""
    if not one.words or not other.words:
        return None
    if _literals(one) != _literals(other) and _literals(one) and _literals(other):
        return False
    return not one.keys.isdisjoint(other.keys) or one.keys <= found.right.keys or other.keys <= found.left.keys


def _value(found: Difference, *, is_same: bool | None) -> str | None:
    """Return the two values of a sentence that is the same but for a number or a command in its predicate."""
    newer, older = found.left, found.right
    if newer.is_past or older.is_past or newer.negations != older.negations:
        return None
    codes = _COMMAND.findall(newer.text), _COMMAND.findall(older.text)
    if len(codes[0]) == len(codes[1]) == 1 and codes[0] != codes[1]:
        rest = [_COMMAND.sub("`", each.text).strip(" .") for each in (newer, older)]
        is_last = rest[0] == rest[1] and len(rest[0].partition("`")[0].split()) > 2
        return f"value {codes[0][0]} / {codes[1][0]}" if is_last else None
    pairs = list(zip(newer.words, older.words, strict=False))
    places = [at for at, (one, two) in enumerate(pairs) if one.key != two.key]
    if len(newer.words) != len(older.words) or len(places) != 1 or places[0] < (1 if is_same else _first(newer)):
        return None
    here, there = pairs[places[0]]
    is_value = _VALUE.fullmatch(here.key) and _VALUE.fullmatch(there.key)
    return f"value {here.text} / {there.text}" if is_value else None


def _first(newer: Reading) -> int:
    """Return the first place where a number is a value, and no part of a name: `Node 3 has 4 cores`."""
    return 1 if newer.words[0].key in english().commands else 2


def _choice(found: Difference) -> str | None:
    """Return that the later one chooses what the earlier one did not."""
    newer, older = found.left, found.right
    if english().choices.isdisjoint(newer.keys & older.keys):
        return None
    taken, left = _chosen(newer)
    before, passed = _chosen(older)
    is_other = bool(passed) and passed <= taken and (left <= before if left else bool(newer.small & english().changes))
    return f"chosen now: {' '.join(sorted(passed))}" if is_other else None


def _chosen(reading: Reading) -> tuple[frozenset[str], frozenset[str]]:
    passed = frozenset(word.key for word in reading.words if word.is_contrast)
    return reading.keys - passed, passed


def _changed(found: Difference, topics: tuple[Reading, Reading], *, is_same: bool | None) -> Update | None:
    """Return the words of the later one that say that something has changed, where it takes up the earlier one."""
    newer, older = found.left, found.right
    words = english()
    fresh = frozenset(word for word in newer.small if word not in older.small and words.stem(word) not in older.keys)
    said, perhaps = sorted(fresh & words.changes), sorted(fresh & words.perhaps)
    named = topics[0].keys & topics[1].keys
    taken_up = [word for word in older.words if word.key in newer.keys and word.key not in named]
    # Who or what a statement opens with is its subject; of that alone both may hold.
    if not (said or perhaps) or taken_up in ([], [older.words[0]]):
        return None
    reason = f"{' '.join(said or perhaps)}: {' '.join(word.text for word in taken_up)}"
    if is_same:
        is_other = _has_code(found.only_left) and _has_code(found.only_right)
        return Update(reason, is_sure=bool(said) or not is_other)
    _, part = found.containment
    if is_same is None and part < TAKEN_UP:
        return None
    return Update(reason, is_sure=bool(said) and part >= TAKEN_UP and len(taken_up) > 1)


def _is_unsettled(newer: Reading) -> bool:
    """Return whether the later one proposes or asks, and tells of no change yet."""
    stances = english().stances
    return not {stances["plan"], stances["consider"]}.isdisjoint(stances[word] for word in newer.stances)


def _other_word(found: Difference) -> Update | None:
    """Return that two sentences are the same but for a word or two of the predicate, or for a denial: perhaps a change."""
    newer, older = found.left, found.right
    _, aligned, regions = found.alignment
    if newer.is_past or older.is_past or len(newer.words) != len(older.words) or len(found.only_left) > MOST_WORDS:
        return None
    if regions == 1 and found.only_left and found.only_right and not set(newer.words[:2]) & set(found.only_left):
        return Update(f"one says {found.only_left[0].text}, the other {found.only_right[0].text}", is_sure=False)
    if aligned == 1 and newer.negations != older.negations:
        return Update("only one denies it", is_sure=False)
    return None


def _literals(reading: Reading) -> frozenset[str]:
    return frozenset(word.key for word in reading.words if word.is_literal)


def _has_code(words: tuple[Word, ...]) -> bool:
    return any(word.is_literal and not _VALUE.fullmatch(word.key) for word in words)
