"""A text as tokens: the first step of reading it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from nous.learning.guard.stem import stem
from nous.learning.normalise import unadorned


class Shape(Enum):
    """What a token looks like. `SYMBOL` is what means its letters and no more: a path, a flag, a ticket."""

    WORD = auto()
    NUMBER = auto()
    SYMBOL = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text. `starts` and `ends` say whether a sentence or clause does so with it.

    `is_past` is set where several words in the past became one, which no longer shows it; `is_owner`, where `'s` was;
    `is_quoted`, where it is code among words that are not.
    """

    text: str
    shape: Shape
    starts: bool = False
    ends: bool = False
    is_past: bool = False
    is_owner: bool = False
    is_quoted: bool = False

    @property
    def lower(self) -> str:
        return self.text.casefold()

    @property
    def name(self) -> str:
        """In lower case; of more than one, as in `PRs`, what each is called."""
        return self.lower[:-1] if _ACRONYMS.fullmatch(self.text) else self.lower

    @property
    def symbol(self) -> str:
        """What it means as a symbol. Where there are signs of a path, a flag or a variable, case makes a difference."""
        return self.text if _CASED.search(self.text) else self.lower

    @property
    def is_name(self) -> bool:
        """A capital that no sentence asked for. The first word of a sentence stays in doubt, and counts as a word."""
        return (self.text[0].isupper() and not self.starts) or any(letter.isupper() for letter in self.text[1:])

    @property
    def is_letter_as_name(self) -> bool:
        """As in `service A`; but not the article, nor `I`."""
        return len(self.text) == 1 and self.text.isupper() and self.text != "I" and not self.starts

    def is_letter_before(self, following: "Token | None") -> bool:
        """Whether it is the letter `a`, as in `a -> b`, not the article."""
        is_lone = following is None or self.ends or following.lower in ("to", "and", "or", "is")
        return self.text == "a" and is_lone


_ACRONYMS = re.compile(r"[A-Z]{2,}s")
_CASED = re.compile(r"[_/\\]|^-")
_ARROWS = re.compile(r"(?<!-)-+>|=>|→|⟶|⇒")
_DASHES = re.compile(r"(?<!\S)-{1,3}(?=\s)")
_OPENING = "([{"
_CLOSING = ")]}.,;:!?…"
_BREAKING = ")].,;:!?…"
_EMPTY = ("[]", "{}")
_NEGATED = re.compile(r"(?<=[^\W\d_])n't$", re.IGNORECASE)
_UNMARKED = re.compile(r"(do|does|did|is|are|was|were|has|have|had|would|could|should|ca|wo)nt", re.IGNORECASE)
_SHORT = {"ca": "can", "wo": "will", "sha": "shall"}
_CLITICS = {"'re": "are", "'ve": "have", "'ll": "will", "'m": "am", "'d": "would"}
_PRONOUNS = frozenset({"it", "that", "there", "here", "who", "what", "where", "he", "she"})
_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = r"[-+]?[$€£]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)*"
_NUMBER = re.compile(_DIGITS)
_GLUED = re.compile(rf"({_DIGITS})-?(?!(?:st|nd|rd|th)$)(°?[^\W\d_]+|[°%])")
_COMPARED = re.compile(r"(>=|<=|>|<|~|≈|≥|≤)(?=[$€£]?\d)(.+)")
_CLOCK = re.compile(r"(\d{1,2}(?::\d{2})?)([ap]\.?m\.?)", re.IGNORECASE)
_RATE = re.compile(r"([^/]*[^\W\d_]|[$€£]?[\d.,]+)/(s|sec|min|h|hr|mo|yr|second|minute|hour|day|week|month|year)")
_PERIODS = {"s": "second", "sec": "second", "min": "minute", "h": "hour", "hr": "hour", "mo": "month", "yr": "year"}
_OR_MORE = re.compile(r"(\d[\d.,]*)\+")
_OWNER = re.compile(r"'s$|(?<=s)'$", re.IGNORECASE)
_RANGE = re.compile(r"(\d+(?::\d\d)?)[-\u2013](\d+(?::\d\d)?)")
_GROUPED = re.compile(r"(?<![\w.,:-])([1-9]\d{0,2})((?: \d{3})+)(?![\w.,:%-])")
ABBREVIATED = frozenset(
    {"approx.", "ca.", "dept.", "dr.", "ex.", "fig.", "incl.", "jr.", "max.", "min.", "mr.", "mrs.", "ms.", "prof."}
    | {"resp.", "sr.", "st.", "vs."}
)
"""A stop after one of these ends no sentence."""

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
    "May",
)
_DATED = frozenset(name[:length] for name in (*_DAYS, *_MONTHS) for length in (3, None)) | {"Tues", "Thurs", "Sept"}
"""Months and days, of which two make a span: `Mon-Fri`."""

_CODE = re.compile(r"(?<!`)(`+)(?!`)([^`]+)\1")
_SCRIPT = re.compile(r"([A-Z]\w+)\.js")
_PREFIXED = re.compile(r"(re|pre|co|sub|multi|auto|micro|e)-([^\W\d_]+)", re.IGNORECASE)
_ALIKE = frozenset(
    {"claim", "collect", "count", "cover", "dress", "form", "fund", "fus", "lay", "leas", "mark", "mov", "pair", "plac"}
    | {"port", "pos", "present", "press", "serv", "sign", "solv", "sort", "stor", "tir", "treat", "turn"}
)
"""Stems that are other words with `re` before them: who re-signs a contract does not resign, but signs again."""

_VERSION = re.compile(r"^v(?=\d)", re.IGNORECASE)


def tokens(text: str) -> tuple[Token, ...]:
    """Cut *text* into words, numbers and symbols; quotes vanish, contractions and hyphens open up.

    Code in backticks that ends in what is else a stop comes once more, as it is: `save!` is not `save`.
    """
    codes = [code[2] for code in _CODE.finditer(text) if code[0] != text.strip(".! ")]
    quoted = {token.text for code in codes for token in _tokens(code)}
    found = [replace(token, is_quoted=token.text in quoted) for token in _tokens(unadorned(text))]
    known = {token.text for token in found}
    chunks = (chunk for code in codes for chunk in code.replace("()", "").split() if chunk not in known)
    cut = (chunk for chunk in chunks if chunk == "-" or chunk[-1] in _CLOSING or chunk[0] in _OPENING)
    return (*found, *(Token(chunk, Shape.SYMBOL) for chunk in cut))


def _tokens(text: str) -> Iterator[Token]:
    starts = True
    text = _GROUPED.sub(lambda found: found.group().replace(" ", ""), text)
    for chunk in _DASHES.sub(" : ", _ARROWS.sub(" to ", text)).split():
        core = _core(chunk)
        is_short = chunk.endswith(".") and chunk.lstrip(_OPENING).casefold() in ABBREVIATED
        ends = chunk.endswith(tuple(_BREAKING)) and not is_short
        pieces = tuple(_pieces(core))
        for number, piece in enumerate(pieces, start=1):
            is_last = number == len(pieces)
            is_owner = is_last and _OWNER.search(core) is not None
            yield Token(piece, _shape(piece), starts and number == 1, ends and is_last, is_owner=is_owner)
        starts = (chunk.endswith((".", ":", "!", "?")) and not is_short) or (starts and not pieces)


def _core(chunk: str) -> str:
    """*chunk* without the punctuation around it; of an empty list or table, nothing else is left."""
    core = chunk.lstrip(_OPENING).replace("()", "")
    core = core.rstrip(_CLOSING) if _closed(core) else core
    return core or next((empty for empty in _EMPTY if empty in chunk), "")


def _closed(core: str) -> bool:
    """Whether the brackets at the end belong to the sentence, not to a symbol like `commit[:7]`."""
    return not core.endswith(("]", "}")) or core.count("[") + core.count("{") == 0


def _pieces(core: str) -> Iterator[str]:
    if not core:
        return
    if unmarked := _UNMARKED.fullmatch(core):
        core = f"{unmarked[1]}n't"
    if _NEGATED.search(core):
        stump = _NEGATED.sub("", core)
        yield from (_SHORT.get(stump.casefold(), stump), "not")
        return
    stump, apostrophe, clitic = core.rpartition("'")
    if clitic.casefold() == "s" and stump.casefold() in _PRONOUNS:
        yield from (stump, "is")
        return
    if apostrophe and (meaning := _CLITICS.get(f"'{clitic.casefold()}")):
        yield from (stump, meaning)
        return
    core = _OWNER.sub("", core)
    yield from _opened(core)


def _opened(core: str) -> Iterator[str]:
    """The parts of a hyphenated word, and the number and unit of `30s` or `384-dimensional`; all else as it is."""
    if compared := _COMPARED.fullmatch(core):
        yield compared.group(1)
        yield from _opened(compared.group(2))
        return
    if prefixed := _PREFIXED.fullmatch(core):
        prefix, rest = prefixed.groups()
        yield from ("again", rest) if prefix in ("re", "Re") and stem(rest.casefold()) in _ALIKE else (prefix + rest,)
        return
    if rate := _RATE.fullmatch(core):
        yield from (*_opened(rate.group(1)), "per", _PERIODS.get(rate.group(2), rate.group(2)))
        return
    yield from _parts(core)


def _parts(core: str) -> Iterator[str]:
    parts = core.split("-")
    if len(parts) == 2 and parts[1] == "only":
        yield "".join(parts)
    elif len(parts) == 2 and all(part in _DATED for part in parts):
        yield from (parts[0], "to", parts[1])
    elif script := _SCRIPT.fullmatch(core):
        yield f"{script.group(1)}js"
    elif len(parts) > 1 and all(_WORD.fullmatch(part) for part in parts):
        yield from parts
    elif glued := _CLOCK.fullmatch(core) or _GLUED.fullmatch(core):
        yield from glued.groups()
    elif more := _OR_MORE.fullmatch(core):
        yield from (more.group(1), "at_least")
    elif span := _RANGE.fullmatch(core):
        yield from (span.group(1), "to", span.group(2))
    else:
        yield _VERSION.sub("", core.removeprefix("#")) if core != "#" else core


def _shape(piece: str) -> Shape:
    if _NUMBER.fullmatch(piece):
        return Shape.NUMBER
    return Shape.WORD if _WORD.fullmatch(piece) else Shape.SYMBOL
