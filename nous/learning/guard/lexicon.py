"""What the guard knows of a language, read from a data file."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any

from nous.learning.guard.stem import stem

_DEEDS = tuple(ending + plural for ending in ("tion", "sion", "ment") for plural in ("", "s"))
_STEMMED = "doubts either means light classes spreading supports deeds"

Phrases = Mapping[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What tells whether another value corrects an older one. Stems; the data file says what each part is for."""

    verbs: frozenset[str]
    timing: frozenset[str]
    single: frozenset[tuple[str, str]]
    assigned: frozenset[str]
    numbered: frozenset[str]
    labels: frozenset[str]
    attributes: frozenset[str]
    opinions: frozenset[str]
    dimensions: tuple[frozenset[str], ...]
    opposites: frozenset[frozenset[str]]


@dataclass(frozen=True, slots=True)
class Numerals:
    """Numbers that are spelled out."""

    numbers: Mapping[str, int]
    ordinals: Mapping[str, str]
    multipliers: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Words by the part they play. All in lower case; the data file says what each part is for."""

    function: frozenset[str]
    negators: frozenset[str]
    doubts: frozenset[str]
    foreign: frozenset[str]
    prepositions: frozenset[str]
    exclusive: tuple[frozenset[str], ...]
    excluding: frozenset[str]
    binding: Mapping[str, str]
    persons: frozenset[str]
    interchangeable: Mapping[str, str]
    governed: Mapping[str, tuple[frozenset[str], ...]]
    means: frozenset[str]
    either: frozenset[str]
    periods: frozenset[str]
    canonical: Mapping[str, str]
    modals: Mapping[str, str]
    quantifiers: Mapping[str, str]
    phrases: Phrases
    compounds: Phrases
    said_otherwise: Mapping[str, tuple[str, ...]]
    units: Mapping[str, str]
    numerals: Numerals
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    bases: Mapping[str, str]
    pasts: frozenset[str]
    unchanging: frozenset[str]
    unmarked: frozenset[str]
    bounds: Mapping[str, str]
    light: frozenset[str]
    supports: frozenset[str]
    classes: frozenset[str]
    agents: Mapping[str, str]
    exchanging: Mapping[str, frozenset[str]]
    spreading: frozenset[str]
    deeds: frozenset[str]
    commands: frozenset[str]
    additive: frozenset[str]
    clausal: frozenset[str]
    nouns_in_ly: frozenset[str]
    participles: frozenset[str]
    same: Mapping[str, str]
    lookalikes: frozenset[frozenset[str]]
    values: Values

    def key(self, word: str) -> str:
        """What all forms of *word*, and all words that may stand for it, have in common."""
        root = stem(self.bases.get(word, word))
        return self.same.get(word) or self.same.get(root) or self._key_of_adjective(word) or root

    def _key_of_adjective(self, adverb: str) -> str | None:
        """That of `severe`, for `severely`."""
        adjective = adverb[:-2] if self.is_adverb(adverb) else ""
        is_other = frozenset((stem(adjective), stem(adverb))) in self.lookalikes
        return None if is_other else self.same.get(adjective)

    def is_code(self, text: str) -> bool:
        """Whether *text* is in capitals and no small word, as in `a GET request` and `the US`; `NOT` is stressed."""
        word = text.casefold()
        if len(word) < 2 or not text.isupper() or (word not in self.function and word not in self.prepositions):
            return len(word) == 2 and text.isupper() and word in self.negators
        return len(word) == 2 or not (word in self.excluding or word in self.negators or word in self.quantifiers)

    def is_past(self, word: str) -> bool:
        """Whether *word* may be the past, or the past participle, of a verb."""
        return word in self.pasts or word in self.participles or (word.endswith("ed") and stem(word) != word)

    def is_small(self, word: str) -> bool:
        """Whether *word* carries no content, and says neither how many nor how often."""
        return word in self.function or word in self.prepositions or word in self.modals or word in self.negators

    def is_adverb(self, word: str) -> bool:
        return len(word) > 5 and word.endswith("ly") and word not in self.nouns_in_ly

    def is_deed(self, word: str) -> bool:
        """Whether *word* is a noun that says what is done, such as `decision`."""
        return word.endswith(_DEEDS) or stem(word) in self.deeds


@cache
def english() -> Lexicon:
    """The one language there is so far. Read once, a few milliseconds."""
    return _lexicon(_table("english.toml") | _table("words.toml"))


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files("nous.learning.guard").joinpath(name).read_text(encoding="utf-8"))


def _lexicon(data: Mapping[str, Any]) -> Lexicon:
    return Lexicon(
        function=_words(data["function"]),
        negators=_words(data["negators"]),
        foreign=_words(data["foreign"]),
        prepositions=_words(data["prepositions"]["words"]),
        exclusive=tuple(_words(line) for line in data["exclusive"]),
        excluding=_words(" ".join(data["exclusive"])),
        binding=_binding(data),
        persons=_words(data["persons"]),
        interchangeable={word: line for line in data["interchangeable"] for word in line.split()},
        governed=_governed(data["governed"]),
        periods=_words(data["periods"]),
        commands=_words(data["commands"]),
        canonical=data["canonical"],
        modals=_reversed(data["modals"]),
        quantifiers=_reversed(data["quantifiers"]),
        phrases=_phrases(data["phrases"]) | _agents(data["agents"]) | _served(data["serving"]) | _once(data["periods"]),
        compounds={tuple(map(stem, key)): value for key, value in _phrases(data["compounds"]).items()},
        bounds=data["bounds"],
        agents=data["agents"],
        exchanging={marker: _stems(verbs) for marker, verbs in data["exchanging"].items()},
        additive=_words(data["additive"]),
        clausal=_words(data["clausal"]),
        nouns_in_ly=_words(data["nouns_in_ly"]),
        said_otherwise={word: tuple(text.split()) for word, text in data["said_otherwise"].items()},
        units=_reversed(data["units"]),
        numerals=Numerals(data["numbers"], data["ordinals"], data["multipliers"]),
        months=_calendar(data["calendar"]["months"], shortest=3),
        weekdays=_calendar(data["calendar"]["weekdays"], shortest=3),
        bases=_bases(data["irregular"]),
        unchanging=_words(data["unchanging"]),
        unmarked=frozenset(past for base, past, _ in _verbs(data["irregular"]) if past == base),
        pasts=frozenset(past for base, past, _ in _verbs(data["irregular"]) if past != base),
        participles=frozenset(participle for base, _, participle in _verbs(data["irregular"]) if participle != base),
        same=_same(data["same"]),
        lookalikes=frozenset(frozenset(map(stem, line.split())) for line in data["lookalikes"]),
        values=_values(data["values"]),
        **{name: _stems(data[name]) for name in _STEMMED.split()},
    )


def _verbs(table: Mapping[str, Any]) -> list[list[str]]:
    """Base, past and participle of each."""
    return [line.split() for row in table["words"] for line in row.split(",")]


def _bases(table: Mapping[str, Any]) -> dict[str, str]:
    plurals = dict(pair.split(":") for pair in table["plurals"].split())
    return {form: base for base, *forms in _verbs(table) for form in forms if form != base} | plurals


def _values(table: Mapping[str, Any]) -> Values:
    stems = {name: frozenset(map(stem, text.split())) for name, text in table.items() if isinstance(text, str)}
    pairs = (pair for line in table["opposites"] for pair in combinations(map(stem, line.split()), 2))
    return Values(
        verbs=stems["verbs"],
        timing=stems["timing"],
        single=frozenset((stem(verb), marker) for verb, marker in map(str.split, table["single"])),
        assigned=stems["assigned"],
        numbered=stems["numbered"],
        labels=stems["labels"],
        attributes=stems["attributes"],
        opinions=stems["opinions"],
        dimensions=tuple(map(_words, table["dimensions"])),
        opposites=frozenset(map(frozenset, pairs)),
    )


def _binding(data: Mapping[str, Any]) -> dict[str, str]:
    """Each excluding word that is told by the word after it, with its line; the others have a say of their own."""
    others = _words(data["prepositions"]["words"]) | _words(data["persons"])
    return {word: line for line in data["exclusive"] for word in line.split() if others.isdisjoint(line.split())}


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, text.split()))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _reversed(table: Mapping[str, str]) -> dict[str, str]:
    return {word: name for name, words in table.items() for word in words.split()}


def _phrases(table: Mapping[str, str]) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {tuple(phrase.split()): tuple(meaning.split()) for phrase, meaning in table.items()}


def _agents(table: Mapping[str, str]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """`is the owner of` and `is owner of`, with the verb that says the same."""
    return {("is", *article, agent, "of"): (verb,) for agent, verb in table.items() for article in ((), ("the",))}


def _served(table: Mapping[str, str]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """`is often used to`, as it is: `used to` alone is what once was."""
    used = ((be, *how.split(), "used", "to") for be in table["be"].split() for how in ("", *table["how"].split()))
    return {phrase: phrase for phrase in used}


def _once(periods: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """`once a week`, as `every week`; but `once per service` is no frequency."""
    articles = ("a", "an", "per", "each", "every")
    return {("once", article, period): ("every", period) for article in articles for period in periods.split()}


def _governed(lines: Iterable[str]) -> dict[str, tuple[frozenset[str], ...]]:
    """The stem of each verb, with the groups of prepositions that say the same after it."""
    table: dict[str, tuple[frozenset[str], ...]] = {}
    for verbs, prepositions in (line.split(":") for line in lines):
        for verb in map(stem, verbs.split()):
            table[verb] = (*table.get(verb, ()), _words(prepositions))
    return table


def _calendar(names: str, *, shortest: int) -> dict[str, int]:
    """Each name and its usual abbreviations, with its number from 1."""
    numbered = enumerate(names.split(), start=1)
    return {
        name[:length]: n for n, name in numbered for length in {len(name), shortest, 4 if name[:4] == "sept" else 3}
    }


def _same(lines: Iterable[str]) -> dict[str, str]:
    """Each word, as it is written and by its stem, with the first of its line; the stem of `plane` is `plan`."""
    rows = [line.split() for line in lines]
    stems = {stem(word): stem(row[0]) for row in rows for word in row}
    return stems | {word: stem(row[0]) for row in rows for word in row}
