"""Whether two texts say the same of the same thing with another value, so that the newer corrects the older.

Taking two facts for a conflict hides one of them, missing a conflict only shows both. So whatever is not known to have
one value at a time may have many.
"""

import re
from collections.abc import Sequence

from nous.learning.guard.lexicon import Lexicon, Values
from nous.learning.guard.reading import Reading
from nous.learning.guard.word import Frame, Role, Tense, Word

_VAGUE = frozenset({
    "a", "an", "one", "some", "another", "any", "each", "every", "most", "many", "no", "nobody", "it", "this", "that",
    "these", "those", "there", "he", "she", "they", "if", "when", "unless", "while", "after", "before",
})  # fmt: skip
"""Openings of what may speak of another thing each time."""

_FIRM = frozenset({"must", "should", "can"})
_STEADY = frozenset({"every", "all", "per", "exactly", "about", "at_least", "at_most", "more_than", "less_than"})
_DATED = frozenset({"du", "schedul"})
"""What is once; on other days than one it may be closed."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)*")
_MEASURE = re.compile(r"-?\d+(?:\.\d+)? ([a-z]+)")
_DATE = re.compile(r"[\d-]+-\d\d(?:-\d\d)?|weekday \d(?: [a-z]+)?")
_TIME = re.compile(r"\d\d:\d\d")
_ENDINGS = ("ed", "ing", "ful", "able", "ible", "ous", "ive", "less", "ly")


def conflicting(left: Reading, right: Reading, lexicon: Lexicon) -> str | None:
    """The two values, in words, if exactly one is another; else None.

    Swapping *left* and *right* swaps the values.
    """
    if not (_may_change(left) and _may_change(right)) or left.modals != right.modals:
        return None
    if left.negated != right.negated:
        return _denied(left, right) or _turned(_denied(right, left))
    at = _difference(left, right)
    if at is None or left.quantifiers != right.quantifiers or not set(left.quantifiers) <= _STEADY:
        return None
    frame = _frame_of_both(left, right, at)
    here, there = left.words[at], right.words[at]
    if frame is None or not _is_value(left, frame, at, there, lexicon.values):
        return None
    return f"value {here.text} / {there.text}"


def _may_change(reading: Reading) -> bool:
    """Whether it tells how something is, not what happened, what is asked or what holds in one case."""
    if reading.is_question or not reading.is_understood or reading.is_compound or reading.is_added:
        return False
    if reading.opening in _VAGUE:
        return False
    if reading.grammar & {"was", "had", "did", "if", "evenif", "unless", "because", "although", "he", "she"}:
        return False
    return reading.modals <= _FIRM and not any(_is_aside(word) for word in reading.words)


def _is_aside(word: Word) -> bool:
    return word.tense is Tense.PAST or (word.clause != "" and word.role is not Role.QUANTITY)


def _denied(plain: Reading, negated: Reading) -> str | None:
    """As `uses` and `does not use`: all is equal but one `not`, at the verb."""
    if not negated.frame or plain.negated or len(negated.negated) != 1 or plain.quantifiers or negated.quantifiers:
        return None
    at = negated.frame.subject
    if (
        at >= len(negated.words)
        or negated.negated[0] != negated.words[at].key
        or negated.words[at].marker not in ("", "be")
    ):
        return None
    if [_whole(word) for word in plain.words] != [_whole(word) for word in negated.words]:
        return None
    return f"value {plain.words[at].text} / not {negated.words[at].text}"


def _turned(found: str | None) -> str | None:
    if found is None:
        return None
    one, other = found.removeprefix("value ").split(" / ")
    return f"value {other} / {one}"


def _whole(word: Word) -> tuple[str, str]:
    return word.key, word.marker


def _difference(left: Reading, right: Reading) -> int | None:
    """The place of the one word that differs."""
    if len(left.words) != len(right.words) or left.grammar != right.grammar:
        return None
    pairs = enumerate(zip(left.words, right.words, strict=True))
    places = [at for at, (one, other) in pairs if one.key != other.key or one.role is not other.role]
    markers_differ = any(a.marker != b.marker for a, b in zip(left.words, right.words, strict=True))
    return places[0] if len(places) == 1 and not markers_differ else None


def _frame_of_both(left: Reading, right: Reading, at: int) -> Frame | None:
    """How the left is framed, if the right is so as well and the word at *at*, which differs, is in the predicate."""
    if left.frame is None or right.frame is None or left.frame.subject != right.frame.subject:
        return None
    is_same = left.frame.verb == right.frame.verb or at == left.frame.subject
    return left.frame if is_same and at >= left.frame.subject else None


def _is_value(reading: Reading, frame: Frame, at: int, there: Word, values: Values) -> bool:
    words, here = reading.words, reading.words[at]
    if here.role is Role.QUANTITY or there.role is Role.QUANTITY:
        return here.role is there.role and _is_quantity(reading, frame, at, there.key, values)
    if frozenset((here.root, there.root)) in values.opposites or frozenset((here.key, there.key)) in values.opposites:
        return _is_state(words, frame, at)
    return _is_complement(words, frame, at) and _is_only_name(words, frame, here, there, values)


def _is_quantity(reading: Reading, frame: Frame, at: int, other: str, values: Values) -> bool:
    words, word = reading.words, reading.words[at]
    if not _is_comparable(word.key, other, values):
        return False
    before = words[_after_verb(words, frame) : at]
    if _DATE.fullmatch(word.key) or _TIME.fullmatch(word.key):
        return _is_only_time(reading, frame, at, values) and all(each.role is Role.QUANTITY for each in before)
    if _MEASURE.fullmatch(word.key):
        is_last = at + 1 == len(words) and word.marker in ("", "for", "to", "after", "every", "at")
        is_phrase = not word.marker or words[at - 1].marker != word.marker
        return not before or (is_last and is_phrase)
    subject = {each.key for each in words[: frame.subject]}
    is_free = word.marker in ("", "be", "on", "to")
    return is_free and not subject & values.labels and all(each.key in values.numbered for each in before)


def _is_only_time(reading: Reading, frame: Frame, at: int, values: Values) -> bool:
    """Whether it happens once, so that the date or time at *at* is the only one."""
    word, subject, first = reading.words[at], reading.words[: frame.subject], reading.words[frame.subject]
    is_timed = frame.verb == "be" or frame.verb in values.timing
    is_repeated = "every" in reading.quantifiers and not _TIME.fullmatch(word.key)
    is_one = not is_repeated and not word.text.endswith("s") and not _are_many(subject)
    return is_timed and is_one and (at == frame.subject or not _acts(first) or first.key in _DATED)


def _is_comparable(one: str, other: str, values: Values) -> bool:
    for shape in (_NUMBER, _DATE, _TIME):
        if shape.fullmatch(one) or shape.fullmatch(other):
            return bool(shape.fullmatch(one) and shape.fullmatch(other))
    here, there = _MEASURE.fullmatch(one), _MEASURE.fullmatch(other)
    if not here or not there:
        return False
    units = {here.group(1), there.group(1)}
    return len(units) == 1 or any(units <= dimension for dimension in values.dimensions)


def _after_verb(words: Sequence[Word], frame: Frame) -> int:
    """Where the predicate begins: after the verb, or the participle that `be` goes with."""
    if frame.subject >= len(words):
        return 0
    first = words[frame.subject]
    if frame.verb == "have" or (frame.verb == "be" and not (first.marker == "be" and _acts(first))):
        return frame.subject
    return frame.subject + 1


def _acts(word: Word) -> bool:
    """Whether it is a participle or adjective that a value may complete: `is limited to 5`, `is due on Monday`."""
    text = word.text.casefold()
    return word.role is Role.WORD and (text.endswith(("ed", "en", "t")) or text == "due")


def _is_state(words: Sequence[Word], frame: Frame, at: int) -> bool:
    """Whether the word at *at* is what is said of the subject: the verb, what follows `is`, or how it does it."""
    word, first = words[at], frame.subject
    is_how = word.text.casefold().endswith("ly")
    is_wanted = frame.verb == "prefer" and at == first + 1
    is_told = at == first and word.marker == "be" and frame.verb != "have"
    return is_how or is_wanted or (is_told and not _is_deed(words[first + 1 :]))


def _is_deed(rest: Sequence[Word]) -> bool:
    """Whether it is told by whom, or with what, it is done, and so not how it is: `is opened by the client`."""
    return any(word.marker in ("by", "with") and word.root != "default" for word in rest)


def _are_many(subject: Sequence[Word]) -> bool:
    return any(word.is_plural for word in subject)


def _is_complement(words: Sequence[Word], frame: Frame, at: int) -> bool:
    """Whether the word is the whole of what follows the verb, but for phrases that begin with a preposition."""
    rest = words[at + 1 :]
    is_whole = not rest or (rest[0].marker not in ("", "be") and rest[0].marker != words[at].marker)
    return at == _after_verb(words, frame) and is_whole


def _is_only_name(words: Sequence[Word], frame: Frame, here: Word, there: Word, values: Values) -> bool:
    """Whether the subject has one of these at a time."""
    verb = words[frame.subject].root
    if frame.verb == "be" and _after_verb(words, frame) == frame.subject:
        subject = words[: frame.subject]
        is_told = frame.subject > 1 and _head(subject) in values.attributes and not any(map(_is_chosen, subject))
        return is_told and _are_nouns(here, there, values)
    if frame.verb == "be":
        return verb in values.assigned and _are_names(here, there)
    if frame.verb == "prefer":
        return words[-1].marker == "for" and _are_nouns(here, there, values)
    return (verb, here.marker) in values.single and (_are_names(here, there) or frame.verb == "default")


def _is_chosen(word: Word) -> bool:
    """Whether there may be more of the kind: `the supported language`, `an available region`."""
    return word.text.casefold().endswith(("ed", "able", "ible", "valid"))


def _head(subject: Sequence[Word]) -> str:
    """The noun that the subject is about: the last before a preposition."""
    last = next((at for at, word in enumerate(subject) if word.marker), len(subject))
    return subject[last - 1].root if last else ""


def _are_names(here: Word, there: Word) -> bool:
    return here.role is Role.NAME and there.role is Role.NAME


def _are_nouns(here: Word, there: Word, values: Values) -> bool:
    if here.role is not there.role:
        return False
    return here.role is Role.NAME or not any(_is_adjective(word, values) for word in (here, there))


def _is_adjective(word: Word, values: Values) -> bool:
    return word.root in values.opinions or word.text.casefold().endswith(_ENDINGS)
