"""What the words of a language tell about the sentence they stand in. Another language is another TOML file here."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Sets of words, patterns to search for anywhere, and patterns to match where a sentence begins.

    What each stands for is said beside it in the TOML file.
    """

    sets: Mapping[str, frozenset[str]]
    contains: Mapping[str, Pattern]
    begins: Mapping[str, Pattern]

    def says(self, name: str, sentence: str) -> bool:
        """Whether *sentence* has one of the phrases of the list *name*."""
        return self.contains[name].search(sentence) is not None

    def opens(self, name: str, sentence: str) -> bool:
        """Whether *sentence* begins with one of the phrases of the list *name*."""
        return self.begins[name].match(sentence) is not None

    def without(self, name: str, sentence: str) -> str:
        """*sentence* without the phrase of the list *name* that it begins with."""
        found = self.begins[name].match(sentence)
        return sentence[found.end() :] if found else sentence


@cache
def words(language: str = "english") -> Words:
    """The words of *language*, read once."""
    lists = tomllib.loads(files(__name__).joinpath(f"{language}.toml").read_text("utf-8"))
    openers = _either(re.escape(word.replace("_", " ")) for word in lists["openers"].split())
    return Words(
        sets={name: frozenset(text.split()) for name, text in lists["sets"].items()},
        contains=_compiled(lists["contains"], "(?<![\\w'\u2019-])"),
        begins=_compiled(lists["begins"], f"\\W*(?:{openers}\\W+)*"),
    )


def _compiled(lists: Mapping[str, Any], before: str) -> dict[str, Pattern]:
    return {
        name: re.compile(f"{before}{_either(phrases)}(?![\\w'\u2019])", re.IGNORECASE)
        for name, phrases in lists.items()
    }


def _either(phrases: Iterable[str]) -> str:
    return f"(?:{'|'.join(phrases)})".replace("'", "['\u2019]")
