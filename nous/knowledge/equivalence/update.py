"""Detect updates: a later statement that gives another value to what an earlier one states.

Only the later one is true then. A false update hides a true fact, a missed one shows both. So a sure update takes
another number or command in the same sentence, a reversed choice, or words that say that something has changed.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from nous.knowledge.equivalence.compare import Difference, texts
from nous.knowledge.equivalence.reading import ParsedStatement, read, stem, stems, words

TAKEN_UP = 0.65  # part of the earlier statement that the later one has to repeat if they share no subject
_topic = lru_cache(maxsize=1_000)(read)
_VALUE = re.compile(r"v?\d[\d.,:/-]*")


class Update(NamedTuple):
    """A detected change; `is_sure` if it is certain enough to hide the earlier statement.

    `is_announced` means that words of change show it, and no value at the same place. It changes one thing then.
    """

    reason: str
    is_sure: bool
    is_announced: bool = False


def update(found: Difference, *, subject: str = "", other_subject: str = "") -> Update | None:
    """Return the change that the left, later statement of *found* makes to the right, or None.

    None means that both may hold. *subject* and *other_subject* name what the two are about; empty if that is not
    known.
    """
    newer, older = found.left, found.right
    if newer.is_question or older.is_question or newer.is_added:
        return None
    if newer.groups("conditions") != older.groups("conditions") or not newer.small.isdisjoint(words("unsettled")):
        return None
    topics = _topic(subject), _topic(other_subject)
    is_same = _is_same_topic(found, *topics)
    if reason := _value(newer, older, is_same=is_same) or _command(newer, older) or _choice(newer, older):
        return Update(reason, is_sure=is_same is not False)
    return _changed(found, topics[0].keys & topics[1].keys, is_same=is_same) or _other_word(found)


def _is_same_topic(found: Difference, one: ParsedStatement, other: ParsedStatement) -> bool | None:
    """Return whether both subjects name the same thing; None if one has no name."""
    if not one.words or not other.words:
        return None
    named = [{word.key for word in each.words if word.is_literal} for each in (one, other)]
    if all(named) and named[0] != named[1]:
        return False
    return not one.keys.isdisjoint(other.keys) or one.keys <= found.right.keys or other.keys <= found.left.keys


def _value(newer: ParsedStatement, older: ParsedStatement, *, is_same: bool | None) -> str | None:
    """Return the two values of a sentence that is the same except for a number in its predicate."""
    pairs = list(zip(newer.words, older.words, strict=False))
    places = [at for at, (one, two) in enumerate(pairs) if one.key != two.key]
    # Prohibitions add up: `Never restart node 3` holds beside `Never restart node 4`.
    is_other = newer.is_past or older.is_past or newer.negations or older.negations
    if is_other or len(newer.words) != len(older.words) or len(places) != 1:
        return None
    # A number that opens a statement is a part of a name: `Node 3 has 4 cores`, but not `Use Helm 3.12`. So is one
    # before another number: `Give node 3 32 GB`.
    first = 1 if is_same or newer.words[0].key in stems("commands") else 2
    here, there = pairs[places[0]]
    is_value = places[0] >= first and _VALUE.fullmatch(here.key) and _VALUE.fullmatch(there.key)
    is_name = any(_VALUE.fullmatch(word.key) for word in newer.words[places[0] + 1 :])
    return f"value {here.text} / {there.text}" if is_value and not is_name else None


def _command(newer: ParsedStatement, older: ParsedStatement) -> str | None:
    """Return the two commands of a sentence that ends in another one: `Tests are run with ...`."""
    parts = [each.text.strip(" .").split("`") for each in (newer, older)]
    is_one = [len(each) for each in parts] == [3, 3] and parts[0][::2] == parts[1][::2] and parts[0] != parts[1]
    if not is_one or len(parts[0][0].split()) < 3 or newer.is_past or newer.negations or older.negations:
        return None
    return f"value {parts[0][1]} / {parts[1][1]}"


def _choice(newer: ParsedStatement, older: ParsedStatement) -> str | None:
    """Return a reason if the later statement chooses what the earlier one passed over."""
    passed, dropped = (frozenset(word.key for word in each.words if word.is_passed) for each in (older, newer))
    if not passed or stems("choices").isdisjoint(newer.keys & older.keys) or not passed <= newer.keys - dropped:
        return None
    here, there = (each.keys - passed - dropped for each in (newer, older))
    if here - there and there - here:
        return None  # of another person or place: `Anna prefers ...`, `... in Makefiles`
    is_other = dropped <= older.keys - passed if dropped else not newer.small.isdisjoint(words("changes"))
    return f"chosen now: {texts([word for word in older.words if word.is_passed])}" if is_other else None


def _changed(found: Difference, named: frozenset[str], *, is_same: bool | None) -> Update | None:
    """Return the change that the later statement announces, if it repeats the earlier one."""
    newer, older = found.left, found.right
    fresh = frozenset(word for word in newer.small - older.small if stem(word) not in older.keys)
    said, perhaps = sorted(fresh & words("changes")), sorted(fresh & words("perhaps"))
    taken_up = [word for word in older.words if word.key in newer.keys and word.key not in named]
    # A statement opens with its subject. If it repeats only that, both may hold.
    if not (said or perhaps) or taken_up in ([], [older.words[0]]):
        return None
    reason = f"{' '.join(said or perhaps)}: {texts(taken_up)}"
    is_case = not (newer.small & words("cases")) <= older.small
    is_as_long = len(newer.words) == len(older.words)
    if newer.negations > older.negations and is_as_long and found.only_left and found.only_right:
        return Update(reason, is_sure=False)  # it denies the same of something else: another port, another owner
    if is_same and not is_case:
        code = [
            any(w.is_literal and not _VALUE.fullmatch(w.key) for w in each)
            for each in (found.only_left, found.only_right)
        ]
        return Update(reason, is_sure=bool(said) or not all(code), is_announced=True)
    is_most = found.containment[1] >= TAKEN_UP and len(taken_up) > 1
    if not is_most and is_same is None:
        return None
    return Update(reason, is_sure=bool(said) and is_most and not is_case, is_announced=True)


def _other_word(found: Difference) -> Update | None:
    """Return a possible update if a word or two of the predicate differ, or a denial."""
    newer, older = found.left, found.right
    if (
        newer.is_past
        or older.is_past
        or len(newer.words) != len(older.words)
        or 3 * len(found.only_left) > len(newer.words)
    ):
        return None
    if found.only_left and found.only_right and found.alignment[2] == 1 and found.only_left[0] not in newer.words[:2]:
        return Update(f"one says {texts(found.only_left)}, the other {texts(found.only_right)}", is_sure=False)
    is_denied = not found.only_left and newer.negations != older.negations
    return Update("only one denies it", is_sure=False) if is_denied else None
