"""English words by the part they play in comparing statements, read from `words.toml`."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

_DERIVED = re.compile(r"(?<=[a-z]{4})(?:ation|ition|ion|ally|al|ly|ment|ness|ive|able|ible)$")
_PLURAL = re.compile(r"(?<=[a-z]{2})(?:(?<=ss)es|(?<=x)es|(?<=[cs]h)es|(?<![sui])s)$")
_VERBAL = re.compile(r"(?<=[a-z]{3})(?:ing|ed)$|(?<=[aeiou][a-z])(?:ing|ed)$")


@cache
def words(name: str) -> frozenset[str]:
    """Return all words of the list *name*."""
    return frozenset(re.sub(r"[|;/]", " ", _lists()[name]).split())


@cache
def groups(name: str) -> Mapping[str, int]:
    """Return the words of the list *name*, each with the number of its group."""
    return {word: at for at, group in enumerate(_lists()[name].split("|")) for word in group.split()}


@cache
def forms(name: str) -> Mapping[str, str]:
    """Return the words of the list *name*, each with the first one of its group."""
    return {word: group.split()[0] for group in _lists()[name].split(";") for word in group.split()}


@cache
def opposites() -> Mapping[str, tuple[int, int]]:
    """Return the stems of words that exclude each other, each with the number of its group and of its side."""
    pairs = enumerate(line.split("/") for line in _lists()["opposites"].split(";"))
    return {stem(word): (at, side) for at, sides in pairs for side, each in enumerate(sides) for word in each.split()}


@cache
def phrases() -> frozenset[tuple[str, ...]]:
    """Return what is one word though it is written as several."""
    return frozenset(tuple(word.split("_")) for name in _lists() for word in words(name) if "_" in word)


@cache
def small() -> frozenset[str]:
    """Return the words that are no content of their own."""
    parts = ("function", "negation", "quantifiers", "conditions", "stances", "prepositions")
    marks = (word for word in words("changes") if "_" in word)
    return frozenset().union(marks, *map(words, parts))


@cache
def stems(name: str) -> frozenset[str]:
    """Return the stems of the list *name*."""
    return frozenset(map(stem, words(name)))


@lru_cache(maxsize=10_000)
def stem(word: str) -> str:
    """Return the form that a word shares with its inflections, its plain derivations and its synonyms."""
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


@cache
def _lists() -> Mapping[str, str]:
    return tomllib.loads(files("nous.learning.equivalence").joinpath("words.toml").read_text(encoding="utf-8"))
