"""Find secrets in text by rules: patterns near keywords, and checks of their matches.

The rules are data: `data/betterleaks.toml` (a maintained set, converted) and `data/own.toml`. One pass searches for all
keywords (Aho-Corasick), and a pattern is tried only where one of its keywords stands, so most text costs one pass.
"""

import re
import tomllib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import Any, NamedTuple, cast

import ahocorasick_rs

from nous.redaction.plausibility import CHECKS, entropy

# Characters around a keyword in which a pattern is searched for. A match that reaches the end of them may go on.
_BEFORE, _AFTER = 100, 1_000
# Characters of a match from which no secret is sought in it if it is none itself.
_LONG = 1_000
_ENDS_A_SENTENCE = ".:?"
"""Punctuation after a secret, not part of it: with it, repeats of the secret would not match."""

PLACEHOLDER = re.compile(r"\[secret:[a-z0-9.-]{1,48}(?::[0-9a-f]{4})?\]")
"""Placeholder of a secret; no rule matches in it."""


_NO_SECRET = re.compile(
    rf"{PLACEHOLDER.pattern}"
    r"|-----BEGIN (?:CERTIFICATE|PUBLIC KEY)-----(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{60,76}){1,400}"
    r"(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{1,60})?(?:\s|\\[nr])+-----END (?:CERTIFICATE|PUBLIC KEY)-----"
)


class Span(NamedTuple):
    """A secret in a text: the rule that found it, and where it begins and ends."""

    start: int
    end: int
    rule: str


@dataclass(frozen=True, eq=False)
class Rule:
    """A pattern, tried where one of *keywords* stands; *check* names a test of its matches.

    If it is *anchored*, it begins at the keyword, otherwise up to *before* characters earlier. *entropy* is the least
    of a secret, in bits per character. A rule without keywords is tried in words of at least *least* characters.
    """

    id: str
    pattern: str
    keywords: tuple[str, ...] = ()
    anchored: bool = False
    before: int = _BEFORE
    check: str = ""
    entropy: float = 0.0
    least: int = 0

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def found(self, text: str, places: Iterable[int]) -> Iterator[Span]:
        """Yield the secrets of *text* near *places*, in order, where its keywords stand."""
        if not self.anchored:
            yield from (span for match in self._near(text, places) if (span := self._secret(match)))
            return
        done = 0
        for place in places:
            if place >= done and (match := self.compiled.match(text, place)):
                span = self._secret(match)
                if span or match.end() - place > _LONG:  # else a long run of keywords would be read once for each
                    done = match.end()
                if span:
                    yield span

    def everywhere(self, text: str) -> Iterator[Span]:
        stretches = self._long_words(text) if self.least else [(0, len(text))]
        matches = (match for begin, end in stretches for match in self.compiled.finditer(text, begin, end))
        return (span for match in matches if (span := self._secret(match)))

    def _long_words(self, text: str) -> Iterator[tuple[int, int]]:
        end = 0
        for word in text.split():
            if len(word) >= self.least:
                begin = text.index(word, end)
                end = begin + len(word)
                yield begin, end

    def _near(self, text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
        for begin, end in _windows(places, self.before):
            done = begin
            while match := self.compiled.search(text, done, end):
                if match.end() == end:
                    match = self.compiled.match(text, match.start()) or match
                done = max(match.end(), done + 1)
                yield match

    def _secret(self, match: re.Match[str]) -> Span | None:
        group = next((at for at, found in enumerate(match.groups(), start=1) if found), 0)
        secret = match[group].rstrip(_ENDS_A_SENTENCE) or match[group]
        if (self.entropy and entropy(secret) < self.entropy) or (self.check and not CHECKS[self.check](secret)):
            return None
        return Span(match.start(group), match.start(group) + len(secret), self.id)


def _windows(places: Iterable[int], before: int) -> Iterator[tuple[int, int]]:
    """Yield stretches around *places*, joined where they overlap to search nothing twice."""
    begin = end = -1
    for place in places:
        if place - before > end:
            if end >= 0:
                yield max(begin, 0), end
            begin = place - before
        end = place + _AFTER
    if end >= 0:
        yield max(begin, 0), end


class RuleSet:
    """Rules behind one search for all of their keywords."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        by_keyword: defaultdict[str, list[Rule]] = defaultdict(list)
        self._unprompted: list[Rule] = []
        for rule in rules:
            for keyword in rule.keywords:
                by_keyword[keyword].append(rule)
            if not rule.keywords:
                self._unprompted.append(rule)
        self._of_keyword = list(by_keyword.values())
        self._keywords = ahocorasick_rs.AhoCorasick(list(by_keyword))
        self.is_prompted = lru_cache(maxsize=4096)(self._is_prompted)

    def _is_prompted(self, name: str) -> bool:
        """Return whether an assignment to *name* has a keyword of any rule."""
        return bool(matches(self._keywords, _lower(f"{name}=")))

    def find(self, text: str) -> Sequence[Span]:
        """Return secrets in *text*, in order and apart; of overlapping ones the first, then longest."""
        places: defaultdict[Rule, list[int]] = defaultdict(list)
        for number, start, _ in matches(self._keywords, _lower(text), overlapping=True):
            for rule in self._of_keyword[number]:
                places[rule].append(start)
        found = [span for rule, near in places.items() for span in rule.found(text, sorted(near))]
        found += (span for rule in self._unprompted for span in rule.everywhere(text))
        return _apart(found, text) if found else ()


def matches(
    words: ahocorasick_rs.AhoCorasick, text: str, *, overlapping: bool = False
) -> Sequence[tuple[int, int, int]]:
    """Return the number of each of *words* in *text*, and where it begins and ends."""
    try:
        return words.find_matches_as_indexes(text, overlapping=overlapping)
    except UnicodeEncodeError:  # half of a surrogate pair
        return words.find_matches_as_indexes(_SURROGATES.sub("?", text), overlapping=overlapping)


_SURROGATES = re.compile("[\ud800-\udfff]")


def _lower(text: str) -> str:
    """Return *text* in lower case, each character at its place."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if c.isascii() else c for c in text)


def _apart(found: Iterable[Span], text: str) -> Sequence[Span]:
    kept: list[Span] = []
    masked = [each.span() for each in _NO_SECRET.finditer(text)]
    ends = [end for _, end in masked]
    for span in sorted(found, key=lambda span: (span.start, -span.end)):
        at = bisect_right(ends, span.start)
        is_masked = at < len(masked) and masked[at][0] < span.end
        if span.end > span.start and not is_masked and (not kept or span.start >= kept[-1].end):
            kept.append(span)
    return kept


def read(text: str) -> Iterator[Rule]:
    """Yield the rules of a TOML file. Raises `ValueError` for what is no rule."""
    for fields in cast("list[dict[str, Any]]", tomllib.loads(text)["rule"]):
        keywords = tuple(fields.pop("keywords", ()))
        yield Rule(keywords=keywords, **fields)


@cache
def built_in() -> tuple[Rule, ...]:
    """Return the rules that come with the package, those of nous last."""
    folder = resources.files("nous.redaction") / "data"
    return tuple(rule for name in ("betterleaks", "own") for rule in read((folder / f"{name}.toml").read_text("utf-8")))


@cache
def default_rules() -> RuleSet:
    return RuleSet(built_in())
