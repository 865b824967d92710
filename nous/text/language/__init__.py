"""Load word lists, phrase patterns and other tables from TOML files beside the code.

A new language has the tables of english.toml or some of them. A session may be in any language, or in two.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

Pattern = re.Pattern[str]


class _Patterns(dict[str, Pattern]):
    """Patterns by name, each compiled at its first use: most commands need none of them."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        super().__init__()
        self._sources = sources

    def __missing__(self, name: str) -> Pattern:
        self[name] = pattern = re.compile(self._sources[name], re.IGNORECASE)
        return pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Word sets, patterns to search for anywhere, and patterns for a sentence's start."""

    sets: Mapping[str, frozenset[str]]
    contains: Mapping[str, Pattern]
    begins: Mapping[str, Pattern]

    def says(self, name: str, sentence: str) -> bool:
        return self.contains[name].search(sentence) is not None

    def opens(self, name: str, sentence: str) -> bool:
        return self.begins[name].match(sentence) is not None

    def without(self, name: str, sentence: str) -> str:
        """Return *sentence* without the phrase of the list *name* that it begins with."""
        found = self.begins[name].match(sentence)
        return sentence[found.end() :] if found else sentence


@cache
def tables(package: str, name: str) -> Mapping[str, Any]:
    """Return the content of `<name>.toml` in *package*, loaded once."""
    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text("utf-8"))


def patterns(package: str, name: str, table: str) -> Mapping[str, Pattern]:
    """Compile the patterns in a *table* of `<name>.toml`, each a list of its pieces."""
    return {key: re.compile("".join(pieces)) for key, pieces in tables(package, name)[table].items()}


@cache
def words() -> Words:
    """Return the word lists of all languages, loaded once."""
    here = files(__name__).iterdir()
    texts = [
        file.read_text("utf-8") for file in sorted(here, key=lambda file: file.name) if file.name.endswith(".toml")
    ]
    return words_in(texts)


def words_in(texts: Iterable[str]) -> Words:
    openers: list[str] = []
    sets: dict[str, set[str]] = defaultdict(set)
    contains: dict[str, list[str]] = defaultdict(list)
    begins: dict[str, list[str]] = defaultdict(list)
    for lists in map(tomllib.loads, texts):
        openers += lists.get("openers", "").split()
        for name, text in lists.get("sets", {}).items():
            sets[name].update(text.split())
        for table, joined in (("contains", contains), ("begins", begins)):
            for name, phrases in lists.get(table, {}).items():
                joined[name] += phrases
    opening = _either(re.escape(word.replace("_", " ")) for word in openers)
    return Words(
        sets={name: frozenset(found) for name, found in sets.items()},
        contains=_patterns(contains, "(?<![\\w'\u2019-])"),
        begins=_patterns(begins, f"\\W*(?:{opening}\\W+)*"),
    )


def _patterns(lists: Mapping[str, Iterable[str]], before: str) -> _Patterns:
    return _Patterns({name: f"{before}{_either(phrases)}(?![\\w'\u2019])" for name, phrases in lists.items()})


def _either(phrases: Iterable[str]) -> str:
    return f"(?:{'|'.join(phrases)})".replace("'", "['\u2019]")
