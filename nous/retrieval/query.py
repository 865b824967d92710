"""Types of a search (query, filters, hit); embed a query, match the files that it names."""

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
from nous.knowledge.fact_index import Earlier, KnownFact
from nous.text.language import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


class HitKind(StrEnum):
    FACT = "fact"
    EPISODE = "episode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A fact or an episode that was found, with its source and the evidence for the match.

    `found_by` reads `words: port, 8080` or `meaning: 0.61`. `date` is when an episode ended, or when a fact was last
    stated, which is in the named session. `event_date` is when the event in the text happened, if known.
    `superseded_by` is the successor of a fact that is no longer current; `valid_to` is until when the fact was true, if
    the successor is another value. `earlier` has the values before, latest first.
    """

    kind: HitKind
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
    earlier: tuple[Earlier, ...] = ()
    score: float = 0.0
    found_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Search filters. Empty collections and None accept everything; episodes have no category.

    `after` and `before` are exclusive bounds of the date; `trust` is the lowest accepted trust.
    """

    kinds: Collection[HitKind] = ()
    categories: Collection[Category] = ()
    after: datetime | None = None
    before: datetime | None = None
    trust: Trust | None = None

    def accepts(self, hit: Hit) -> bool:
        distance = list(Trust).index
        return (
            (not self.kinds or hit.kind in self.kinds)
            and (not self.categories or hit.category in self.categories)
            and (self.after is None or hit.date > self.after)
            and (self.before is None or hit.date < self.before)
            and (self.trust is None or distance(hit.trust) <= distance(self.trust))
        )


def hit_of(known: KnownFact) -> Hit:
    fact, source = known.fact, known.latest
    return Hit(
        kind=HitKind.FACT,
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


def episode_hit(episode: Episode) -> Hit:
    return Hit(
        kind=HitKind.EPISODE,
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
"""Parts of a path, from the top, case-folded."""

_NAME = r"\.?[\w@+~-][\w@+~.-]*\.[a-z]\w{0,9}"
_WHOLE_NAMES = r"\.[a-z][\w.-]*|(?:make|docker|gem|rake|just|proc|vagrant|jenkins)file|licen[cs]e|readme"
_FILE = re.compile(f"{_NAME}|{_WHOLE_NAMES}", re.IGNORECASE)
_WORD = re.compile(r"[^\s\"'`()<>{},;|\x00]+")
# Position in a file, as compilers and links write it.
_PLACE = re.compile(r"(?::\d+|#L\d+)(?:[:-]L?\d+)*$")
_EDGE = ":!?…*=[]@"
_LONGEST = 400
_SEPARATOR = re.compile(r"[/\\]+")
_DRIVE = re.compile(r"[a-z]:")


def files_named(text: str) -> tuple[Path, ...]:
    """Return the files and folders that *text* names, each once.

    Examples: `ingest.rs`, `./src/ingest.rs:42`. What only looks like one, such as `os.path`, `and/or` or a mail
    address, does no harm: it matches no file.
    """
    return tuple(path for path in dict.fromkeys(map(parts, _names(text))) if path)


def parts(path: str) -> Path:
    """Split *path* into its parts, without a drive and with `.` and `..` resolved."""
    found: list[str] = []
    for part in _SEPARATOR.split(path.strip().casefold()):
        if part == "..":
            del found[-1:]
        elif part not in {"", ".", "~"} and not _DRIVE.fullmatch(part):
            found.append(part)
    return tuple(found)


def touched(named: Collection[Path], paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of *paths* that *named* matches: by name, by path suffix, or by folder.

    A longer name that ends in the path matches too. Parts match whole: `ingest.rs` names `src/ingest.rs`, and neither
    `my_ingest.rs` nor `ingest.rs.bak`.
    """
    return tuple(path for path in paths if named and any(_is_named(parts(path), name) for name in named))


def _is_named(path: Path, name: Path) -> bool:
    runs = (path[start : start + len(name)] for start in range(len(path) - len(name) + 1))
    return name in runs or (1 < len(path) < len(name) and name[-len(path) :] == path)


def _names(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        bare = word.strip(_EDGE).rstrip(".")
        name = _PLACE.sub("", bare)
        if len(bare) <= _LONGEST and "://" not in bare and (_SEPARATOR.search(name) or _FILE.fullmatch(name)):
            yield name


_IDENTIFIER = re.compile(r"[\x00-\x7f]*[\d@][\x00-\x7f]*")
"""An identifier in ASCII, since a script without spaces writes whole sentences so. Names without a digit, such as
`LastPrompt` and `src/ingest.rs`, are words with a meaning (tests/benchmarks/search.py).
"""

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
"""Signature of `Embedder.embed`."""


@dataclass(frozen=True, eq=False)
class Query:
    """A search text with its vector; without a vector, only words and files find something.

    *lacks* says why there is none, if there should be one.
    """

    text: str
    vector: "Vector | None" = None
    lacks: str | None = None

    @cached_property
    def files(self) -> tuple[Path, ...]:
        return files_named(self.text)


def asked(text: str, embed: Embed | None) -> Query:
    """Return *text* as a query, without a vector if the embedder is missing or does not answer.

    Mere identifiers and numbers are not embedded: those that look alike have near vectors, which mean nothing.
    """
    text = text.encode("utf-8", "replace").decode()  # a lone surrogate, left by a cut, fits in no index
    if not text.strip() or _is_identifiers(text):
        return Query(text)
    if embed is None:
        return Query(text, lacks="there is no embedder")
    try:
        return Query(text, vector=embed([text])[0])
    except NousError as error:
        return Query(text, lacks=str(error))


def _is_identifiers(text: str) -> bool:
    """Return whether *text* has identifiers and numbers, and no other words but stop words."""
    bare = (word.strip(punctuation) for word in text.split())
    said = [word for word in bare if word and word.casefold() not in words().sets["stopwords"]]
    return bool(said) and all(map(_IDENTIFIER.fullmatch, said))
