"""How a fact is known: who said it, where, in which words, and what was made of it since."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from nous.domain.fact import Linked, LinkKind, Source, Superseded
from nous.domain.summary_input import Brief, Passage
from nous.facts.fact_index import Knowledge, KnownFact
from nous.search.word_index import asked_terms, terms

GOOD_SHARE = 0.25
"""Of the words of a fact, so many that no line before it has make a line worth quoting."""

_LONGEST = 300
_BEFORE = 60
"""Characters that are left before the first of the fact's words, where the beginning of a line has to go."""

_LABEL = re.compile(r"\[[A-Z][\w ]*\] ")
_CALLS = re.compile(r" \| (?=\S)")
_WORD = re.compile(r"[^\s\"`*,;()<>{}|\[\]]+")


class _Line(NamedTuple):
    label: str
    text: str
    terms: frozenset[str]


def quoted(text: str, passages: Iterable[Passage]) -> tuple[str, ...]:
    """The line of *passages* that has most of the words of *text*, then those that have many of the rest."""
    wanted = frozenset(asked_terms(text))
    lines = [line for passage in passages for line in _lines(passage, wanted)]
    return tuple(line.label + _cut(line) for line in _showing(lines, wanted))


def _showing(lines: Sequence[_Line], wanted: frozenset[str]) -> Iterator[_Line]:
    """The first line in any case, as who asks should see the place."""
    missing = wanted
    least = 0.0
    while lines:
        best = max(lines, key=lambda line: len(line.terms & missing))
        if len(best.terms & missing) < least:
            return
        yield best
        missing -= best.terms
        least = max(GOOD_SHARE * len(wanted), 1)


def _lines(passage: Passage, wanted: Collection[str]) -> Iterator[_Line]:
    """The lines of a passage, each call of a tool as one of its own, and each with the label of whoever says it."""
    found = _LABEL.match(passage.text)
    label = found[0] if found else ""
    for line in passage.text[len(label) :].splitlines():
        for part in _CALLS.split(line) if label == "[Tools] " else (line,):
            if part.strip():
                yield _Line(label, part.strip(), frozenset(terms(part)).intersection(wanted))


def _cut(line: _Line) -> str:
    """The text of *line*, or of a long one the piece in which the first of the longest words of the fact stands."""
    text = line.text
    if len(text) <= _LONGEST:
        return text
    start = max(_place(line) - _BEFORE, 0)
    return f"{'…' if start else ''}{text[start : start + _LONGEST]}{'…' if start + _LONGEST < len(text) else ''}"


def _place(line: _Line) -> int:
    """Where the first of the longest of its *terms* stands in *line*: as a term, not within another word."""
    places: dict[str, int] = {}
    for word in _WORD.finditer(line.text):
        folded = word[0].casefold()
        for term in line.terms.intersection(terms(word[0])):
            places.setdefault(term, word.start() + max(folded.find(term.removesuffix("=")), 0))
    return max(places.items(), key=lambda each: (len(each[0]), -each[1]), default=("", 0))[1]


GAVE_WAY = "gave way to"


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """One time that a fact was said: as what, by whom, what was made of it, and lines of the turns it rests on.

    `quotes` begin with those that have most of its words. There are none where the episode's brief is gone, or shows
    none of the turns.
    """

    text: str
    source: Source
    at: datetime
    reason: str
    similarity: float | None
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relative:
    """Another fact that this one stands to in some way, and why: it took its place, gave way to it, or is like it.

    `by_hand` means that a person said so.
    """

    relation: str
    fact_id: UUID
    text: str
    reason: str
    at: datetime
    valid_to: datetime | None = None
    by_hand: bool = False
    likelihood: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """All that is to be said for a fact."""

    known: KnownFact
    tellings: tuple[Telling, ...]
    relatives: tuple[Relative, ...]


def grounds(fact_id: UUID, knowledge: Knowledge, brief: Callable[[UUID], Brief | None]) -> Grounds:
    """How *knowledge* comes to hold the fact; *brief* gives what an episode was made from.

    Raises:
        KeyError: there is no such fact.
    """
    known = knowledge[fact_id]
    return Grounds(known=known, tellings=tuple(_tellings(known, brief)), relatives=tuple(_relatives(known, knowledge)))


def _tellings(known: KnownFact, brief: Callable[[UUID], Brief | None]) -> Iterator[Telling]:
    fact = known.fact
    yield Telling(
        text=fact.text,
        source=fact.source,
        at=fact.learned_at,
        reason=known.reason,
        similarity=None,
        quotes=_quotes(fact.text, fact.source, brief),
    )
    for row in known.confirmed:
        quotes = _quotes(row.text, row.source, brief)
        yield Telling(
            text=row.text, source=row.source, at=row.at, reason=row.reason, similarity=row.similarity, quotes=quotes
        )


def _quotes(text: str, source: Source, brief: Callable[[UUID], Brief | None]) -> tuple[str, ...]:
    """What the turns of *source* say of *text*, as far as the summarizer was shown it."""
    found = brief(source.episode_id) if source.turns else None
    return quoted(text, (passage for passage in found.passages if passage.turn in source.turns)) if found else ()


def _relatives(known: KnownFact, knowledge: Knowledge) -> Iterator[Relative]:
    gone = (known.superseded,) if known.superseded else ()
    for row in (*known.replaces, *gone, *known.undone):
        other = row.by if row.fact_id == known.fact.id else row.fact_id
        yield Relative(
            relation=_of_succession(row, known, is_past=row in known.undone),
            fact_id=other,
            text=_text(knowledge, other),
            reason=row.reason,
            at=row.at,
            valid_to=row.valid_to,
            by_hand=row.by_hand,
        )
    for link in known.links:
        other = known.other_of(link)
        yield Relative(
            relation=_of_link(link, known, knowledge.get(other)),
            fact_id=other,
            text=_text(knowledge, other),
            reason=link.reason,
            at=link.at,
            by_hand=link.by_hand,
            likelihood=link.likelihood,
        )


def _of_succession(row: Superseded, known: KnownFact, *, is_past: bool) -> str:
    """Name the relation of *known* to the other fact of *row*; *is_past* where that was taken back."""
    if row.is_undone:
        return "was separated again from"
    is_old = row.fact_id == known.fact.id
    if row.by_hand and row.valid_to is None:
        return f"{'had been' if is_past else 'was'} merged {'into' if is_old else 'with'}"
    if is_past:
        return "had given way to" if is_old else "had taken the place of"
    return GAVE_WAY if is_old else "took the place of"


def _of_link(link: Linked, known: KnownFact, other: KnownFact | None) -> str:
    match link.kind:
        case LinkKind.APART:
            return (
                "is kept apart from"
                if known.standing_links[known.other_of(link)] is link
                else "had been kept apart from"
            )
        case _ if link.by_hand:
            return "is no longer kept apart from"
        case LinkKind.DUPLICATE:
            return "may say the same as"
        case LinkKind.UPDATE:
            return "may be replaced by" if other and other.said_at > known.said_at else "may replace"
        case LinkKind.RELATED:
            return "is kept beside"


def _text(knowledge: Knowledge, fact_id: UUID) -> str:
    other = knowledge.get(fact_id)
    return other.fact.text if other else "(a fact that is not there any more)"


def named(name: str, knowledge: Knowledge) -> Sequence[KnownFact]:
    """The facts whose id begins with *name*, as it is written or without its hyphens."""
    wanted = name.casefold().replace("-", "")
    return [known for known in knowledge if known.fact.id.hex.startswith(wanted)] if wanted else []
