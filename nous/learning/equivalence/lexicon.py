"""English words by the part they play in comparing statements, read from `words.toml`."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_SUFFIX = re.compile(r"(?<=[a-z]{4})(?:ation|ition|ion|ally|al|ly|ment|ness|ive|able|ible)$")
_PLURAL = re.compile(r"(?<=[a-z]{2})(?:(?<=ss)es|(?<=x)es|(?<=[cs]h)es|(?<![sui])s)$")
_VERBAL = re.compile(r"(?<=[a-z]{3})(?:ing|ed)$|(?<=[aeiou][a-z])(?:ing|ed)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Words of English by their part. Groups map a word to the number of its group; opposites to (group, side)."""

    function: frozenset[str]
    negation: frozenset[str]
    quantifiers: Mapping[str, int]
    conditions: Mapping[str, int]
    stances: Mapping[str, int]
    mild: frozenset[str]
    opposites: Mapping[str, tuple[int, int]]
    prepositions: frozenset[str]
    contrasts: frozenset[str]
    irregular: Mapping[str, str]
    past: frozenset[str]
    synonyms: Mapping[str, str]
    light: frozenset[str]
    units: Mapping[str, str]
    numbers: Mapping[str, str]
    months: Mapping[str, int]
    changes: frozenset[str]
    perhaps: frozenset[str]
    additions: frozenset[str]
    choices: frozenset[str]
    commands: frozenset[str]
    cases: frozenset[str]
    determiners: frozenset[str]
    free: frozenset[str]
    small: frozenset[str]
    phrases: frozenset[tuple[str, ...]]

    def stem(self, word: str) -> str:
        """Return the form that a word shares with its inflections, its plain derivations and its synonyms."""
        form = self.units.get(word) or self.irregular.get(word) or _stem(word)
        return self.synonyms.get(form, form)


@cache
def english() -> Lexicon:
    """Return the words that are shipped."""
    text = files("nous.learning.equivalence").joinpath("words.toml").read_text(encoding="utf-8")
    words: dict[str, str] = tomllib.loads(text)
    groups = {name: _groups(words[name], "|") for name in ("quantifiers", "conditions", "stances")}
    small = {word for name in _SMALL for word in words[name].replace("|", " ").split()}
    small |= {word for word in words["changes"].split() if "_" in word}
    synonyms = {_stem(form): _stem(line[0]) for line in _lines(words["synonyms"]) for form in line}
    past = {form: line[0] for line in _lines(words["past"]) for form in line}
    irregular = past | {form: line[0] for line in _lines(words["irregular"]) for form in line}
    return Lexicon(
        **{name: frozenset(words[name].split()) for name in _SETS},
        **{name: frozenset(synonyms.get(_stem(word), _stem(word)) for word in words[name].split()) for name in _STEMS},
        **groups,
        small=frozenset(small),
        opposites=_opposites(words["opposites"]),
        irregular=irregular,
        past=frozenset(form for form, verb in past.items() if form != verb),
        synonyms=synonyms,
        units={name: line[0] for line in _lines(words["units"]) for name in line},
        numbers={word: str(number) for number, word in enumerate(words["numbers"].split())},
        months=_months(words["months"].split()),
        phrases=frozenset(tuple(word.split("_")) for text in words.values() for word in text.split() if "_" in word),
    )


_SETS = ("function", "negation", "mild", "prepositions", "contrasts", "changes", "additions", "perhaps", "cases", "determiners", "free")
_STEMS = ("light", "choices", "commands")
_SMALL = ("function", "negation", "quantifiers", "conditions", "stances", "prepositions")


def _stem(word: str) -> str:
    form = word.lower()
    form = _PLURAL.sub("", form[:-3] + "y" if form.endswith("ies") and len(form) > 4 else form)
    form = _VERBAL.sub("", form)
    if len(form) > 3 and form[-1] == form[-2] and form[-1] not in "lsz" and form != word.lower():
        form = form[:-1]
    form = _SUFFIX.sub("", _SUFFIX.sub("", form))
    return form.rstrip("e") if len(form) > 3 else form


def _lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.split(";")]


def _groups(text: str, sign: str) -> dict[str, int]:
    return {word: number for number, group in enumerate(text.split(sign)) for word in group.split()}


def _opposites(text: str) -> dict[str, tuple[int, int]]:
    sides = enumerate(line.split("/") for line in text.split(";"))
    return {word: (line, side) for line, each in sides for side, words in enumerate(each) for word in words.split()}


def _months(names: list[str]) -> dict[str, int]:
    return {form: number for number, name in enumerate(names, start=1) for form in (name, name[:3])}
