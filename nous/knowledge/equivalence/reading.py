"""Parse a statement into content words, literals and function words, for comparison."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial

from nous.knowledge.normalize import plain, unadorned
from nous.text.language import tables

_DERIVED = re.compile(r"(?<=[a-z]{4})(?:ation|ition|ion|ally|al|ly|ment|ness|ive|able|ible)$")
_PLURAL = re.compile(r"(?<=[a-z]{2})(?:(?<=ss)es|(?<=x)es|(?<=[cs]h)es|(?<![sui])s)$")
_VERBAL = re.compile(r"(?<=[a-z]{3})(?:ing|ed)$|(?<=[aeiou][a-z])(?:ing|ed)$")


_lists = partial(tables, "nous.knowledge.equivalence", "words")


@cache
def words(name: str) -> frozenset[str]:
    return frozenset(re.sub(r"[|;/]", " ", _lists()[name]).split())


@cache
def groups(name: str) -> Mapping[str, int]:
    """Return the words of the list *name*, each with the number of its group."""
    return {word: at for at, group in enumerate(_lists()[name].split("|")) for word in group.split()}


@cache
def forms(name: str) -> Mapping[str, str]:
    """Return the words of the list *name*, each with the first one of its group."""
    return {word: group.split()[0] for group in _lists()[name].split(";") for word in group.split()}


def unit_of(word: str) -> str:
    """Return the one spelling of a unit; any other word as it is, without case."""
    # The pattern that finds units ignores case, and so takes a dotless i and a long s for letters of theirs.
    return forms("units").get(word.casefold(), word.casefold())


@cache
def opposites() -> Mapping[str, tuple[int, int]]:
    """Return the stems of opposite words, each with the numbers of its group and its side."""
    pairs = enumerate(line.split("/") for line in _lists()["opposites"].split(";"))
    return {stem(word): (at, side) for at, sides in pairs for side, each in enumerate(sides) for word in each.split()}


@cache
def phrases() -> frozenset[tuple[str, ...]]:
    """Return the multi-word expressions that count as one word."""
    return frozenset(tuple(word.split("_")) for name in _lists() for word in words(name) if "_" in word)


@cache
def small() -> frozenset[str]:
    """Return the function words: those without content of their own."""
    parts = ("function", "negation", "quantifiers", "conditions", "stances", "prepositions")
    marks = (word for word in words("changes") if "_" in word)
    return frozenset().union(marks, *map(words, parts))


@cache
def stems(name: str) -> frozenset[str]:
    return frozenset(map(stem, words(name)))


@lru_cache(maxsize=10_000)
def stem(word: str) -> str:
    """Return the form that a word shares with its inflections, simple derivations and synonyms."""
    irregular = forms("units").get(word) or forms("past").get(word) or forms("irregular").get(word)
    form = irregular or _stem(word)
    return _synonyms().get(form, form)


@cache
def _synonyms() -> Mapping[str, str]:
    return {_stem(word): _stem(first) for word, first in forms("synonyms").items()}


def _stem(word: str) -> str:
    form = word.lower()
    form = _PLURAL.sub("", form[:-3] + "y" if form.endswith("ies") and len(form) > 4 else form)
    form = _VERBAL.sub("", form)
    if len(form) > 3 and form[-1] == form[-2] and form[-1] not in "lsz" and form != word.lower():
        form = form[:-1]
    form = _DERIVED.sub("", _DERIVED.sub("", form))
    return form.rstrip("e") if len(form) > 3 else form


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a statement. A literal is a number, a date or code.

    `marker` is the preposition that governs it. `is_denied` means that it is negated; `is_passed`, that something else
    was chosen: `tabs over spaces`.
    """

    key: str
    text: str
    is_literal: bool = False
    is_name: bool = False
    marker: str = ""
    is_denied: bool = False
    is_passed: bool = False


@dataclass(frozen=True, kw_only=True)
class ParsedStatement:
    """A statement in parts.

    `tokens` includes function words; `words` has content words and literals alone. `is_added` means that the statement
    says that it stands beside another, as with `also`.
    """

    text: str
    tokens: tuple[Word, ...]
    words: tuple[Word, ...]
    keys: frozenset[str]
    small: frozenset[str]
    negations: int
    is_question: bool
    is_added: bool

    def groups(self, name: str) -> frozenset[int]:
        """Return the groups of the list *name* that it has words of, except for `mild` ones."""
        return frozenset(groups(name)[word] for word in (self.small & groups(name).keys()) - words("mild"))

    @cached_property
    def opposites(self) -> frozenset[tuple[int, int]]:
        return frozenset(opposites()[key] for key in set(map(stem, self.small)) & opposites().keys())

    @cached_property
    def scopes(self) -> Mapping[tuple[str, str], int]:
        """Count the function words that matter; quantifiers count with the word behind them."""
        found: Counter[tuple[str, str]] = Counter()
        content = ""
        for token in reversed(self.tokens):
            if token.is_literal or token.key not in small():
                content = token.key if token.is_literal else stem(token.key)
            elif token.key in groups("quantifiers") or token.key in groups("stances"):
                found[str(groups("quantifiers").get(token.key, token.key)), content] += 1
            elif token.key not in words("free"):
                found[token.key, ""] += 1
        return found

    @cached_property
    def is_past(self) -> bool:
        """Return whether a verb is in the past; a participle behind a form of `be` is not."""
        for at, token in enumerate(self.tokens):
            is_form = forms("past").get(token.key, token.key) != token.key or re.fullmatch(r"[a-z]{3,}ed", token.key)
            before = {each.key for each in self.tokens[max(at - 3, 0) : at]}
            if token.key in words("was") or (is_form and not token.is_literal and before.isdisjoint(words("be"))):
                return True
        return False


def read(text: str) -> ParsedStatement:
    """Parse *text*, in time linear in its length."""
    bare = re.sub(r"(?<=\w)n't\b", " not", re.sub(r"\bcan(?:'t|not)\b", "can not", unadorned(text)))
    tokens = tuple(_joined(list(_tokens(bare))))
    content = tuple(_governed(tokens))
    small_words = frozenset(token.key for token in tokens if not token.is_literal)
    return ParsedStatement(
        text=plain(text),
        tokens=tokens,
        words=content,
        keys=frozenset(word.key for word in content),
        small=small_words,
        negations=sum(map(_denies, tokens)),
        is_question=bare.rstrip().endswith("?"),
        is_added=not small_words.isdisjoint(words("additions")),
    )


_EDGES = "()[]{}.,:;!?'\"`-<>"
_NO_PAIR = re.compile(r"\.[a-z]{1,5}$|[<@:*]|^[.~$]|/.*/|^/|/$")


@cache
def _token() -> re.Pattern[str]:
    units = "|".join(sorted(map(re.escape, forms("units")), key=len, reverse=True))
    month = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
    return re.compile(
        rf"\b(?P<date>\d{{4}}-\d\d-\d\d|{month}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|\d{{1,2}} {month},? \d{{4}})\b"
        r"|(?<![\w.:])(?P<time>\d{1,2}(?::\d\d)? ?[ap]\.?m|\d{1,2}:\d\d)(?![\w:])"
        r"|(?<![\w./:#<\[-])(?P<number>(?P<sign>[$€£]?)(?P<digits>\d[\d,]*(?:\.\d+)*)"
        rf"(?:(?:[ -]|(?![mk]\b))(?P<unit>{units})(?!\w))?(?!\w|[./:_=\]]\w|-\d))"
        r"|(?P<chunk>[^\s→⇒]+|[→⇒])",
        re.IGNORECASE,
    )


def _tokens(text: str) -> Iterator[Word]:
    """Yield the words of *text*; the key of a plain word is its lower case."""
    is_first = True
    for found in _token().finditer(text):
        is_free = not text[max(found.start() - 1, 0) : found.start()].strip()
        if found["date"] or found["time"]:
            yield Word((_date if found["date"] else _time)(found[0]), found[0], is_literal=True)
        elif found["number"]:
            yield Word(found["digits"].replace(",", ""), found[0], is_literal=True)
            if unit := found["sign"] or found["unit"]:
                yield Word(unit_of(unit), unit, is_literal=True)
        elif any(map(str.isalnum, found[0])):
            yield from _chunk(found[0], is_first=is_first)
        elif found[0].strip(_EDGES) or found[0] in "<>" or (is_free and found[0] not in "-\u2014\u2013"):
            yield Word(found[0], found[0], is_literal=True)
        is_first = found[0][-1] in ".!?:"


def _chunk(chunk: str, *, is_first: bool) -> Iterator[Word]:
    bare = chunk.strip(_EDGES)
    if chunk[0] in "<>" and bare[:1].isdigit():
        yield Word(chunk[0], chunk[0], is_literal=True)
    owner = "of" if bare.endswith("'s") else ""
    bare = bare.removesuffix("'s")
    pieces = bare.split("/")
    if len(pieces) > 1 and (not _NO_PAIR.search(bare) or all(map(_is_plain, pieces))):
        for piece in pieces:
            yield from _chunk(piece, is_first=is_first)
    elif _is_plain(bare.replace("-", "")) and "-" in bare:
        yield Word(bare.replace("-", "").lower(), chunk)
    elif not _is_plain(bare) or (len(bare) == 1 and bare.isupper() and not is_first and bare != "I"):
        key = bare.lower() if bare.isalpha() and bare.isupper() else bare.removesuffix("()")
        yield Word(key, chunk, is_literal=True)
    elif bare.lower() in groups("numbers"):
        yield Word(str(groups("numbers")[bare.lower()]), chunk, is_literal=True)
    elif bare[0].isupper() and bare.lower() in groups("months"):
        yield Word(f"month {groups('months')[bare.lower()]}", chunk, is_literal=True)
    else:
        key = "of" if bare == "for" else bare.lower()
        yield Word(key, chunk, is_name=not is_first and bare[0].isupper(), marker=owner)


def _is_plain(chunk: str) -> bool:
    """Return whether *chunk* has letters alone, with a capital at most at its start."""
    bare = chunk.replace("'", "")
    return bare.isalpha() and (bare[1:].islower() or len(bare) == 1)


def _date(text: str) -> str:
    if text[0].isdigit() and "-" in text:
        return text
    parts = re.findall(r"\d+|[a-z]{3}", text.casefold())
    day, year = (part for part in parts if part.isdecimal())
    month = next(groups("months")[part] for part in parts if part in groups("months"))
    return f"{year}-{month + 1:02}-{int(day):02}"


def _time(text: str) -> str:
    hour, minutes = (*map(int, re.findall(r"\d+", text)), 0)[:2]
    half = text.lower().replace(".", "")[-2:]
    return f"{hour % 12 + 12 * (half == 'pm') if half in ('am', 'pm') else hour:02}:{minutes:02}"


def _joined(tokens: Sequence[Word]) -> Iterator[Word]:
    """Yield *tokens*, with each multi-word expression as one."""
    at = 0
    while at < len(tokens):
        runs = (tokens[at : at + size] for size in (4, 3, 2))
        run = next((run for run in runs if tuple(token.key for token in run) in phrases()), tokens[at : at + 1])
        yield replace(run[-1], key="_".join(token.key for token in run)) if len(run) > 1 else run[0]
        at += len(run)


def _governed(tokens: Sequence[Word]) -> Iterator[Word]:
    """Yield the content words; a preposition governs those up to the next comma or stop."""
    marker, is_denied = "", False
    for token in tokens:
        if token.is_literal or token.key not in small():
            key = token.key if token.is_literal else stem(token.key)
            is_passed = marker in words("contrasts")
            yield replace(token, key=key, marker=token.marker or marker, is_denied=is_denied, is_passed=is_passed)
            is_denied = False
        else:
            is_denied = is_denied or _denies(token)
            marker = token.key if token.key in words("prepositions") else marker * (token.key in words("determiners"))
        marker = "" if token.text[-1] in ",;:.!?)" else marker


def _denies(token: Word) -> bool:
    """Return whether *token* negates what follows; before a comma it is an answer: `No, `."""
    return token.key in words("negation") and not token.text.endswith(",")
