"""What the guard knows of a language, read from a data file."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any

from nous.learning.guard.stem import stem, whole_stem

_DEEDS = tuple(ending + plural for ending in ("tion", "sion", "ment") for plural in ("", "s"))
_WRITTEN = "function negators foreign persons periods commands additive clausal nouns_in_ly unchanging strangers"
_STEMMED = "doubts either means sent light classes spreading supports deeds"

Phrases = Mapping[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What tells whether another value corrects an older one. The data file says what each part is for.

    All are stems, those of `numbered` and `labels` whole ones, as keys are.
    """

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
    asking: frozenset[str]
    binding: Mapping[str, str]
    persons: frozenset[str]
    interchangeable: Mapping[str, str]
    governed: Mapping[str, tuple[frozenset[str], ...]]
    means: frozenset[str]
    sent: frozenset[str]
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
    doers: frozenset[str]
    exchanging: Mapping[str, frozenset[str]]
    spreading: frozenset[str]
    deeds: frozenset[str]
    commands: frozenset[str]
    additive: frozenset[str]
    clausal: frozenset[str]
    nouns_in_ly: frozenset[str]
    participles: frozenset[str]
    same: Mapping[str, str]
    strangers: frozenset[str]
    lookalikes: frozenset[frozenset[str]]
    values: Values

    def key(self, word: str) -> str:
        """What all forms of *word*, and all words that may stand for it, have in common."""
        if word in self.strangers:
            return self.same.get(word, word)
        root = whole_stem(self.bases.get(word, word))
        return self.same.get(word) or self.same.get(root) or self._key_of_adjective(word) or root

    def _key_of_adjective(self, adverb: str) -> str | None:
        """That of `severe`, for `severely`."""
        adjective = adverb[:-2] if self.is_adverb(adverb) else ""
        is_other = frozenset((whole_stem(adjective), whole_stem(adverb))) in self.lookalikes
        return None if is_other else self.same.get(adjective)

    def is_code(self, text: str) -> bool:
        """Whether *text* is in capitals and no small word, as in `a GET request` and `the US`; `NOT` is stressed."""
        word = text.casefold()
        if len(word) < 2 or not text.isupper() or (word not in self.function and word not in self.prepositions):
            return len(word) == 2 and text.isupper() and word in self.negators
        is_stressed = word in self.excluding - self.asking or word in self.negators or word in self.quantifiers
        return len(word) == 2 or not is_stressed

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
    asking = " ".join(data["asking"].values())
    return Lexicon(
        prepositions=_words(data["prepositions"]["words"]),
        exclusive=tuple(_words(line) for line in (*data["exclusive"], asking)),
        excluding=_words(" ".join((*data["exclusive"], asking))),
        asking=_words(asking),
        binding=_binding(data),
        interchangeable={word: line for line in data["interchangeable"] for word in line.split()},
        governed=_governed(data["governed"]),
        canonical=data["canonical"],
        modals=_reversed(data["modals"]),
        quantifiers=_reversed(data["quantifiers"]),
        phrases=_phrases(data["phrases"]) | _agents(data["agents"]) | _served(data["serving"]) | _once(data["periods"]),
        compounds=_compounds(data["compounds"], data["taken"]),
        bounds=data["bounds"],
        agents=data["agents"],
        doers=_stems(" ".join(data["agents"])),
        exchanging={marker: _stems(verbs) for marker, verbs in data["exchanging"].items()},
        said_otherwise={word: tuple(text.split()) for word, text in data["said_otherwise"].items()},
        units=_reversed(data["units"]),
        numerals=Numerals(data["numbers"], data["ordinals"], data["multipliers"]),
        months=_calendar(data["calendar"]["months"], shortest=3),
        weekdays=_calendar(data["calendar"]["weekdays"], shortest=3),
        bases=_bases(data["irregular"]),
        unmarked=frozenset(past for base, past, _ in _verbs(data["irregular"]) if past == base),
        pasts=frozenset(past for base, past, _ in _verbs(data["irregular"]) if past != base),
        participles=frozenset(participle for base, _, participle in _verbs(data["irregular"]) if participle != base),
        same=_same(data["same"], _words(data["strangers"])),
        lookalikes=frozenset(frozenset(map(whole_stem, line.split())) for line in data["lookalikes"]),
        values=_values(data["values"]),
        **{name: _words(data[name]) for name in _WRITTEN.split()},
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
    forms = ((form, line) for line in table["opposites"] for form in (stem, whole_stem))
    pairs = (pair for form, line in forms for pair in combinations(map(form, line.split()), 2))
    return Values(
        verbs=stems["verbs"],
        timing=stems["timing"],
        single=frozenset((stem(verb), marker) for verb, marker in map(str.split, table["single"])),
        assigned=stems["assigned"],
        numbered=frozenset(map(whole_stem, table["numbered"].split())),
        labels=frozenset(map(whole_stem, table["labels"].split())),
        attributes=stems["attributes"],
        opinions=stems["opinions"],
        dimensions=tuple(map(_words, table["dimensions"])),
        opposites=frozenset(map(frozenset, pairs)),
    )


def _binding(data: Mapping[str, Any]) -> dict[str, str]:
    """Each excluding word that is told by the word after it, with its line; the others have a say of their own.

    Those that only ask may not be left out either, which is the kind `order`: `knows it runs`, `knows why it runs`.
    """
    prepositions = _words(data["prepositions"]["words"])
    others = prepositions | _words(data["persons"])
    told = {word: line for line in data["exclusive"] for word in line.split() if others.isdisjoint(line.split())}
    asking = dict.fromkeys(_words(data["asking"]["or_tells"]) - prepositions, "asking")
    return told | asking | dict.fromkeys(data["asking"]["always"].split(), "order")


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, text.split()))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _reversed(table: Mapping[str, str]) -> dict[str, str]:
    return {word: name for name, words in table.items() for word in words.split()}


def _phrases(table: Mapping[str, str]) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {tuple(phrase.split()): tuple(meaning.split()) for phrase, meaning in table.items()}


def _compounds(table: Mapping[str, str], taken: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """By their stems; and `take the decision`, as `make the decision`."""
    made = {("take", *to, deed): ("make", *to, deed) for to in ((), ("a",), ("the",)) for deed in taken.split()}
    return {tuple(map(stem, phrase)): meaning for phrase, meaning in (_phrases(table) | made).items()}


def _agents(table: Mapping[str, str]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """`is the owner of` and `is owner of`, with the verb that says the same."""
    return {("is", *article, agent, "of"): (verb,) for agent, verb in table.items() for article in ((), ("the",))}


def _served(table: Mapping[str, str]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """`is often used to`, as it is: `used to` alone is what once was."""
    used = ((be, *how.split(), "used", "to") for be in table["be"].split() for how in ("", *table["how"].split()))
    return {phrase: phrase for phrase in used}


def _once(periods: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """`once a week`, as `every week`, and `every other week`; but `once per service` is no frequency."""
    articles = ("a", "an", "per", "each", "every")
    once = {("once", article, period): ("every", period) for article in articles for period in periods.split()}
    return once | {("every", "other", period): ("every", "two", f"{period}s") for period in periods.split()}


def _governed(lines: Iterable[str]) -> dict[str, tuple[frozenset[str], ...]]:
    """The stem of each verb, with the groups of prepositions that say the same after it."""
    table: dict[str, tuple[frozenset[str], ...]] = {}
    for verbs, prepositions in (line.split(":") for line in lines):
        for verb in {form(verb) for verb in verbs.split() for form in (stem, whole_stem)}:
            table[verb] = (*table.get(verb, ()), _words(prepositions))
    return table


def _calendar(names: str, *, shortest: int) -> dict[str, int]:
    """Each name and its usual abbreviations, with its number from 1."""
    numbered = enumerate(names.split(), start=1)
    return {
        name[:length]: n for n, name in numbered for length in {len(name), shortest, 4 if name[:4] == "sept" else 3}
    }


def _same(lines: Iterable[str], strangers: frozenset[str]) -> dict[str, str]:
    """Each word, as it is written and, but for *strangers*, by its stem, with the first of its line."""
    keys = {word: line.split()[0] for line in lines for word in line.split()}
    keys = {word: first if first in strangers else whole_stem(first) for word, first in keys.items()}
    stems = {whole_stem(word): key for word, key in keys.items() if word not in strangers}
    return {word: key for word, key in stems.items() if word not in strangers} | keys
