"""What is looked for: its words, its meaning and the files that it names."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from string import punctuation
from typing import TYPE_CHECKING
from uuid import UUID

from nous.domain.episode import Category, Episode, Trust
from nous.domain.errors import NousError
from nous.facts.fact_index import Knowledge, KnownFact
from nous.text.language import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


class Remembrance(StrEnum):
    FACT = "fact"
    EPISODE = "episode"


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierValue:
    """A value that a fact had before, and the time until which it was true."""

    id: UUID
    text: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Something remembered, where it is from, and what it was found by: `words: port, 8080`, `meaning: 0.61`.

    `date` is when it ended, or when the session that is named said it, the last that did; `event_date` when what it
    tells of happened, where that is known. `superseded_by` is what took the place of a fact that is no longer current,
    and `valid_to` until when it was true, if that is another value. `earlier` are the values before, latest first.
    """

    kind: Remembrance
    id: UUID
    text: str
    date: datetime
    event_date: str | None
    category: Category | None
    trust: Trust
    episode_id: UUID
    session_id: str
    turns: tuple[int, ...]
    superseded_by: UUID | None = None
    valid_to: datetime | None = None
    earlier: tuple[EarlierValue, ...] = ()
    score: float = 0.0
    found_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What may be found. Empty collections and None let everything through; episodes have no category.

    `after` and `before` bound the date, neither included; `trust` is the least that is trusted.
    """

    kinds: Collection[Remembrance] = ()
    categories: Collection[Category] = ()
    after: datetime | None = None
    before: datetime | None = None
    trust: Trust | None = None

    def accepts(self, hit: Hit) -> bool:
        return (
            (not self.kinds or hit.kind in self.kinds)
            and (not self.categories or hit.category in self.categories)
            and (self.after is None or hit.date > self.after)
            and (self.before is None or hit.date < self.before)
            and (self.trust is None or _distance(hit.trust) <= _distance(self.trust))
        )


def _distance(trust: Trust) -> int:
    return list(Trust).index(trust)


def earlier_values(fact_id: UUID, knowledge: Knowledge) -> tuple[EarlierValue, ...]:
    """Return the values that a fact had before, latest first."""
    found = knowledge.earlier(fact_id)
    return tuple(EarlierValue(id=each.known.fact.id, text=each.known.fact.text, until=each.until) for each in found)


def hit_of(remembered: KnownFact | Episode) -> Hit:
    """*remembered* as a hit, which nothing has found yet."""
    return _of_episode(remembered) if isinstance(remembered, Episode) else _of_fact(remembered)


def _of_fact(known: KnownFact) -> Hit:
    fact, source = known.fact, known.latest
    return Hit(
        kind=Remembrance.FACT,
        id=fact.id,
        text=fact.text,
        date=known.said_at,
        event_date=fact.event_date,
        category=fact.category,
        trust=known.trust,
        episode_id=source.episode_id,
        session_id=source.session_id,
        turns=source.turns,
        superseded_by=known.superseded.by if known.superseded else None,
        valid_to=known.superseded.valid_to if known.superseded else None,
    )


def _of_episode(episode: Episode) -> Hit:
    return Hit(
        kind=Remembrance.EPISODE,
        id=episode.id,
        text=episode.summary.text,
        date=episode.ended_at,
        event_date=None,
        category=None,
        trust=Trust.ASSISTANT,
        episode_id=episode.id,
        session_id=episode.session_id,
        turns=(),
    )


Path = tuple[str, ...]
"""The parts of a path, from the top, in one case."""

_NAME = r"\.?[\w@+~-][\w@+~.-]*\.[a-z]\w{0,9}"
_WHOLE_NAMES = r"\.[a-z][\w.-]*|(?:make|docker|gem|rake|just|proc|vagrant|jenkins)file|licen[cs]e|readme"
_FILE = re.compile(f"{_NAME}|{_WHOLE_NAMES}", re.IGNORECASE)
_SPACED = re.compile(rf"(?:\w+ ){{1,4}}{_NAME}", re.IGNORECASE)
_QUOTED = re.compile(r"""(?P<quote>[`"'])(?P<name>[^`"'\n]{1,400})(?P=quote)""")
_WORD = re.compile(r"[^\s\"'`()<>{},;|\x00]+")
_ADDRESS = re.compile(r"[^@/\\]*\w@[a-z][^@/\\]*", re.IGNORECASE)
"""Somebody's, in mail: `ann@example.com`, but not `icon@2x.png`."""

_PLACE = re.compile(r"(?::\d+|#L\d+)(?:[:-]L?\d+)*$")
"""Where in a file, as compilers and links say it."""

_EDGE = ":!?…*=[]@"
_LONGEST = 400
_ABBREVIATIONS = frozenset({"e.g", "i.e", "a.k.a", "n.b", "vs"})
_SEPARATOR = re.compile(r"[/\\]+")
_DRIVE = re.compile(r"[a-z]:")


def files_named(text: str) -> tuple[Path, ...]:
    """The files and folders that *text* names, each once: `ingest.rs`, `./src/ingest.rs:42`, `"my notes.txt"`.

    What only looks like one, such as `os.path` or `and/or`, is harmless: no file is found by it.
    """
    spaced = [found["name"] for found in _QUOTED.finditer(text) if _is_spaced(found["name"])]
    text = _QUOTED.sub(lambda found: " " if _is_spaced(found["name"]) else found[0], text)
    found = (parts(word) for word in (*spaced, *_words(text)))
    return tuple(path for path in dict.fromkeys(found) if path)


def parts(path: str) -> Path:
    """*path* by its parts, without a drive; what `.` and `..` stand for is gone."""
    found: list[str] = []
    for part in _SEPARATOR.split(path.strip().casefold()):
        if part == "..":
            del found[-1:]
        elif part not in {"", ".", "~"} and not _DRIVE.fullmatch(part):
            found.append(part)
    return tuple(found)


def touched(named: Collection[Path], paths: Iterable[str]) -> tuple[str, ...]:
    """Those of *paths* that were *named*: by name, by the end of their path, by a folder, or from higher up.

    Parts match whole: `ingest.rs` names `src/ingest.rs`, and neither `my_ingest.rs` nor `ingest.rs.bak`.
    """
    return tuple(path for path in paths if named and any(_is_named(parts(path), name) for name in named))


def _is_named(path: Path, name: Path) -> bool:
    runs = (path[start : start + len(name)] for start in range(len(path) - len(name) + 1))
    return name in runs or (1 < len(path) < len(name) and name[-len(path) :] == path)


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        bare = word.strip(_EDGE).rstrip(".")
        if len(bare) <= _LONGEST and "://" not in bare and bare.casefold() not in _ABBREVIATIONS:
            name = _PLACE.sub("", bare)
            if _is_path(name):
                yield name


def _is_path(word: str) -> bool:
    return _SEPARATOR.search(word) is not None or bool(_FILE.fullmatch(word) and not _ADDRESS.fullmatch(word))


def _is_spaced(name: str) -> bool:
    return " " in name and _SPACED.fullmatch(_SEPARATOR.split(name)[-1]) is not None


_IDENTIFIER = re.compile(r"[\x00-\x7f]*[\d@][\x00-\x7f]*")
"""In ASCII, as a script without spaces writes whole sentences so. Names without a digit, such as `LastPrompt` and
`src/ingest.rs`, are words, which have a meaning (tests/benchmarks/search.py).
"""

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
"""`Embedder.embed`."""


@dataclass(frozen=True, eq=False)
class Query:
    """A text, and its vector, without which words and files alone find something.

    *lacks* says why there is none, where there should be one.
    """

    text: str
    vector: "Vector | None" = None
    lacks: str | None = None

    @cached_property
    def files(self) -> tuple[Path, ...]:
        return files_named(self.text)


def asked(text: str, embed: Embed | None) -> Query:
    """*text* as a query. An embedder that does not answer, or is not there, is done without.

    None is asked about mere identifiers and numbers: those that look alike are near each other, and mean nothing.
    """
    text = text.encode("utf-8", "replace").decode()  # half a character, as a cut made it, has no place in any index
    if not text.strip() or _is_identifiers(text):
        return Query(text)
    if embed is None:
        return Query(text, lacks="there is no embedder")
    try:
        return Query(text, vector=embed([text])[0])
    except NousError as error:
        return Query(text, lacks=str(error))


def _is_identifiers(text: str) -> bool:
    """Whether *text* has identifiers and numbers, and no word of a language besides but such as say nothing."""
    bare = (word.strip(punctuation) for word in text.split())
    said = [word for word in bare if word and word.casefold() not in words().sets["stopwords"]]
    return bool(said) and all(map(_IDENTIFIER.fullmatch, said))
