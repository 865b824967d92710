"""A statement as it is compared: its words and literals in order, and the small words that change the sense."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from nous.learning.equivalence.lexicon import Lexicon, english
from nous.learning.normalise import plain


@dataclass(frozen=True, slots=True)
class Word:
    """A word of content. *marker* is the preposition that governs it. A literal is a number, a date or code."""

    key: str
    text: str
    is_literal: bool = False
    is_name: bool = False
    marker: str = ""
    is_negated: bool = False
    is_contrast: bool = False


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What comparing needs of a statement. `quantifiers`, `conditions` and `stances` are numbers of their groups.

    `small` has every plain word in lower case, phrases joined by underscores. `agents` says that a word stands behind
    `by` and a form of `be` before it.
    """

    text: str
    words: tuple[Word, ...]
    small: frozenset[str]
    negations: int
    quantifiers: frozenset[int]
    conditions: frozenset[int]
    stances: frozenset[str]
    scopes: Mapping[tuple[str, str], int]
    is_past: bool
    opposites: frozenset[tuple[int, int]]
    is_passive: bool
    is_question: bool
    is_english: bool

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(word.key for word in self.words)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(word.key for word in self.words if word.is_literal and word.key.isdecimal())

    @property
    def additions(self) -> bool:
        """Return whether it says that it stands beside something else."""
        return not self.small.isdisjoint(english().additions)


_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_PASSIVE = re.compile(r"\b(?:is|are|was|were|been|be|being) (?:\w+ ){1,6}?by\b")
_BE = frozenset({"is", "are", "be", "been", "being", "am", "get", "gets"})
_WAS = frozenset({"was", "were", "had", "did"})
_NOT = re.compile(r"(?<=\w)n't\b", re.IGNORECASE)
_EDGES = "()[]{}.,:;!?'\"`-<>"
_FILE = re.compile(r"\.[a-z]{1,5}$|[<@:*]|^[.~$]")
_SPAN = re.compile(r"`([^`]*[^\w`.,()/][^`]*|[.]+)`[.,;:]?")
_DASHES = frozenset("-\u2014\u2013")


@cache
def _token() -> re.Pattern[str]:
    units = "|".join(sorted(map(re.escape, english().units), key=len, reverse=True))
    return re.compile(
        rf"(?P<date>\b(?P<iso>\d{{4}}-\d\d-\d\d)\b|\b(?P<m>{_MONTH})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>\d{{4}})\b"
        rf"|\b(?P<d2>\d{{1,2}}) (?P<m2>{_MONTH}),? (?P<y2>\d{{4}})\b)"
        r"|(?P<time>(?<![\w.])(?P<h>\d{1,2})(?::(?P<mi>\d\d))? ?(?P<half>[ap])\.?m\b|(?<![\w.:])\d{1,2}:\d\d(?![\w:]))"
        rf"|(?P<number>(?<![\w./:#<\[-])(?P<sign>[$€£]?)(?P<digits>\d[\d,]*(?:\.\d+)*)(?:(?:[ -]|(?![mk]\b))(?P<unit>{units})(?!\w))?"
        r"(?!\w|[./:_=\]]\w|-\d))"
        r"|(?P<chunk>[^\s→⇒]+|[→⇒])",
        re.IGNORECASE,
    )


def read(text: str) -> Reading:
    """Read *text*, in time linear in its length."""
    lexicon = english()
    bare = _NOT.sub(" not", plain(text)).replace("ca not", "can not").replace("cannot", "can not")
    tokens = list(_joined(list(_tokens(bare, lexicon)), lexicon))
    small = frozenset(token.key for token in tokens if not token.is_literal)
    return Reading(
        text=bare,
        words=tuple(_governed(tokens, lexicon)),
        small=small,
        negations=sum(token.key in lexicon.negation and not token.text.endswith(",") for token in tokens),
        quantifiers=_groups(small, lexicon.quantifiers),
        conditions=_groups(small, lexicon.conditions),
        stances=small & lexicon.stances.keys(),
        scopes=Counter(_scopes(tokens, lexicon)),
        is_past=_is_past(tokens, lexicon),
        opposites=frozenset(lexicon.opposites[word] for word in small & lexicon.opposites.keys()),
        is_passive=bool(_PASSIVE.search(bare)),
        is_question=bare.rstrip().endswith("?"),
        is_english=not small.isdisjoint(lexicon.function),
    )


def _scopes(tokens: Sequence[Word], lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """Each small word that counts; one for how many or how often with the next word of content."""
    content = ""
    for token in reversed(tokens):
        if token.is_literal or token.key not in lexicon.small:
            content = token.key if token.is_literal else lexicon.stem(token.key)
        elif token.key in lexicon.quantifiers:
            yield str(lexicon.quantifiers[token.key]), content
        elif token.key in lexicon.stances:
            yield token.key, content
        elif token.key not in lexicon.free and token.key != "by":
            yield token.key, ""


def _is_past(tokens: Sequence[Word], lexicon: Lexicon) -> bool:
    """Return whether a verb is in the past; a participle behind a form of `be` is not."""
    since = 9
    for token in tokens:
        since = 0 if token.key in _BE else since + 1
        is_form = token.key in lexicon.past or (token.key.endswith("ed") and len(token.key) > 4)
        if token.key in _WAS or (since > 3 and is_form and not token.is_literal):
            return True
    return False


def _groups(small: frozenset[str], groups: Mapping[str, int]) -> frozenset[int]:
    return frozenset(groups[word] for word in small & groups.keys())


def _tokens(text: str, lexicon: Lexicon) -> Iterator[Word]:
    """Every word of *text*, those of content not yet told from others; the key of a plain one is its lower case."""
    is_first = True
    for found in _token().finditer(text):
        match found.lastgroup:
            case "date":
                yield Word(_date(found, lexicon), found[0], is_literal=True)
            case "time":
                yield Word(_time(found), found[0], is_literal=True)
            case "number":
                yield Word(found["digits"].replace(",", ""), found[0], is_literal=True)
                if unit := found["sign"] or found["unit"]:
                    yield Word(lexicon.units[unit.lower()], unit, is_literal=True)
            case _ if not any(map(str.isalnum, found[0])) and found.start() and not text[found.start() - 1].isspace():
                pass
            case _:
                yield from _chunk(found[0], lexicon, is_first=is_first)
        is_first = found[0][-1] in ".!?:"


def _chunk(chunk: str, lexicon: Lexicon, *, is_first: bool) -> Iterator[Word]:
    bare = chunk.strip(_EDGES) if any(map(str.isalnum, chunk)) else chunk
    if code := _SPAN.fullmatch(chunk):
        yield Word(code[1], chunk, is_literal=True)
        return
    owner = "of" if bare.endswith("'s") else ""
    bare = bare.removesuffix("'s")
    pieces = bare.split("/")
    if len(pieces) == 2 and all(pieces) and not _FILE.search(bare) or len(pieces) > 1 and all(map(_is_plain, pieces)):
        for piece in pieces:
            yield from _chunk(piece, lexicon, is_first=is_first)
    elif "-" in bare and _is_plain(bare.replace("-", "")) and not bare.startswith("-"):
        yield Word(bare.replace("-", "").lower(), chunk)
    elif not bare or _DASHES.issuperset(bare):
        return
    elif bare.isalpha() and bare.isupper() and len(bare) > 1:
        yield Word(bare.lower(), chunk, is_literal=True, marker=owner)
    elif not _is_plain(bare) or (len(bare) == 1 and bare.isupper() and not is_first and bare != "I"):
        yield Word(bare.removesuffix("()"), chunk, is_literal=True, marker=owner)
    elif number := lexicon.numbers.get(bare.lower()):
        yield Word(number, bare, is_literal=True)
    elif bare[0].isupper() and (month := lexicon.months.get(bare.lower())):
        yield Word(f"month {month}", bare, is_literal=True)
    else:
        yield Word(bare.lower(), chunk, is_name=not is_first and bare[0].isupper(), marker=owner)


def _is_plain(chunk: str) -> bool:
    """Return whether *chunk* is a word of a language rather than code: letters, in capitals at most at its start."""
    bare = chunk.replace("'", "")
    return bare.isalpha() and (bare[1:].islower() or len(bare) == 1)


def _date(found: re.Match[str], lexicon: Lexicon) -> str:
    if found["iso"]:
        return found["iso"]
    month = lexicon.months[(found["m"] or found["m2"])[:3].lower()]
    return f"{found['y'] or found['y2']}-{month:02}-{int(found['d'] or found['d2']):02}"


def _time(found: re.Match[str]) -> str:
    if not found["half"]:
        return found[0].zfill(5)
    hour = int(found["h"]) % 12 + (12 if found["half"].lower() == "p" else 0)
    return f"{hour:02}:{found['mi'] or '00'}"


def _joined(tokens: Sequence[Word], lexicon: Lexicon) -> Iterator[Word]:
    """*tokens*, with those that make a phrase as one."""
    at = 0
    while at < len(tokens):
        for size in (4, 3, 2):
            keys = tuple(token.key for token in tokens[at : at + size])
            if keys in lexicon.phrases:
                yield Word("_".join(keys), " ".join(keys))
                at += size
                break
        else:
            yield tokens[at]
            at += 1


def _governed(tokens: Sequence[Word], lexicon: Lexicon) -> Iterator[Word]:
    """The words of content among *tokens*, each with what governs it up to the next comma or stop."""
    marker, is_negated = "", False
    for token in tokens:
        key = token.key
        if not token.is_literal and key in lexicon.small:
            is_negated = is_negated or (key in lexicon.negation and not token.text.endswith(","))
            marker = key if key in lexicon.prepositions else marker if key in lexicon.determiners else ""
        else:
            yield Word(
                key if token.is_literal else lexicon.stem(key),
                token.text,
                is_literal=token.is_literal,
                is_name=token.is_name,
                marker=token.marker or marker,
                is_negated=is_negated,
                is_contrast=marker in lexicon.contrasts,
            )
            is_negated = False
        if token.text[-1] in ",;:.!?)":
            marker = ""
