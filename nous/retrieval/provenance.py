"""Collect a fact's provenance: its sources, quotes from their turns, and related facts."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from nous.domain.fact import Linked, LinkKind, Source, Superseded
from nous.domain.fact import named as facts_of
from nous.domain.summary_input import Segment, SummaryInput
from nous.knowledge.fact_index import FactIndex, KnownFact
from nous.retrieval.word_index import asked_terms, terms

GOOD_SHARE = 0.25  # fraction of a fact's words that a line must add to the lines before it to be quoted
_LONGEST = 300
_BEFORE = 60  # characters kept before the first word of the fact, if the start of a line is cut off
_LABEL = re.compile(r"\[[A-Z][\w ]*\] ")
_CALLS = re.compile(r" \| (?=\S)")


class _Line(NamedTuple):
    label: str
    text: str
    terms: frozenset[str]


def quoted(text: str, segments: Iterable[Segment]) -> tuple[str, ...]:
    """Return the line of *segments* with most words of *text*, then lines with many of the rest."""
    wanted = frozenset(asked_terms(text))
    lines = [line for segment in segments for line in _lines(segment, wanted)]
    return tuple(line.label + _cut(line) for line in _showing(lines, wanted))


def _showing(lines: Sequence[_Line], wanted: frozenset[str]) -> Iterator[_Line]:
    """Yield the lines to quote; always the first, so that the reader sees the place."""
    missing = wanted
    least = 0.0
    while lines:
        best = max(lines, key=lambda line: len(line.terms & missing))
        if len(best.terms & missing) < least:
            return
        yield best
        missing -= best.terms
        least = max(GOOD_SHARE * len(wanted), 1)


def _lines(segment: Segment, wanted: Collection[str]) -> Iterator[_Line]:
    found = _LABEL.match(segment.text)
    label = found[0] if found else ""
    for line in segment.text[len(label) :].splitlines():
        for part in _CALLS.split(line) if label == "[Tools] " else (line,):
            if part.strip():
                yield _Line(label, part.strip(), frozenset(terms(part)).intersection(wanted))


def _cut(line: _Line) -> str:
    """Return the text of *line*; of a long one, the part around the fact's longest word."""
    text = line.text
    if len(text) <= _LONGEST:
        return text
    term = max(line.terms, key=len, default="").removesuffix("=")
    found = re.search(rf"(?<![a-z0-9]){re.escape(term)}", text.casefold())
    start = max((found.start() if found else 0) - _BEFORE, 0)
    return f"{'…' if start else ''}{text[start : start + _LONGEST]}{'…' if start + _LONGEST < len(text) else ''}"


GAVE_WAY = "gave way to"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One statement of a fact: wording, source, verdict, and lines of the turns behind it.

    `quotes` begin with the line that has most of its words. They are empty if the summarizer input of the episode is
    gone, or shows none of the turns.
    """

    text: str
    source: Source
    at: datetime
    reason: str
    similarity: float | None
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedFact:
    """A successor, predecessor or similar fact, and why; `by_hand` if a person said so."""

    relation: str
    fact_id: UUID
    text: str
    reason: str
    at: datetime
    valid_to: datetime | None = None
    by_hand: bool = False
    likelihood: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    known: KnownFact
    tellings: tuple[Evidence, ...]
    relatives: tuple[RelatedFact, ...]


def provenance_of(
    fact_id: UUID, knowledge: FactIndex, summary_input: Callable[[UUID], SummaryInput | None]
) -> Provenance:
    """Return the sources of a fact and its relations. Raises `KeyError` if there is none."""
    known = knowledge[fact_id]
    return Provenance(
        known=known, tellings=tuple(_tellings(known, summary_input)), relatives=tuple(_relatives(known, knowledge))
    )


def _tellings(known: KnownFact, summary_input: Callable[[UUID], SummaryInput | None]) -> Iterator[Evidence]:
    fact = known.fact
    first = fact.text, fact.source, fact.learned_at, known.reason, None
    again = ((row.text, row.source, row.at, row.reason, row.similarity) for row in known.confirmed)
    for text, source, at, reason, similarity in (first, *again):
        # Only as far as the summarizer saw the turns.
        found = summary_input(source.episode_id) if source.turns else None
        shown = [segment for segment in found.segments if segment.turn in source.turns] if found else []
        yield Evidence(
            text=text, source=source, at=at, reason=reason, similarity=similarity, quotes=quoted(text, shown)
        )


def _relatives(known: KnownFact, knowledge: FactIndex) -> Iterator[RelatedFact]:
    gone = (known.superseded,) if known.superseded else ()
    for row in (*known.replaces, *gone, *known.undone, *known.links):
        [other] = facts_of(row) - {known.fact.id}
        fact = knowledge.get(other)
        is_link = isinstance(row, Linked)
        yield RelatedFact(
            relation=_of_link(row, known, fact) if is_link else _of_succession(row, known),
            fact_id=other,
            text=fact.fact.text if fact else "(a fact that is not there any more)",
            reason=row.reason,
            at=row.at,
            valid_to=None if is_link else row.valid_to,
            by_hand=row.by_hand,
            likelihood=row.likelihood if is_link else None,
        )


def _of_succession(row: Superseded, known: KnownFact) -> str:
    if row.is_undone:
        return "was separated again from"
    is_old, is_past = row.fact_id == known.fact.id, row in known.undone
    if row.by_hand and row.valid_to is None:
        return f"{'had been' if is_past else 'was'} merged {'into' if is_old else 'with'}"
    if is_past:
        return "had given way to" if is_old else "had taken the place of"
    return GAVE_WAY if is_old else "took the place of"


def _of_link(link: Linked, known: KnownFact, other: KnownFact | None) -> str:
    match link.kind:
        case LinkKind.APART:
            is_standing = known.standing_links[known.other_of(link)] is link
            return "is kept apart from" if is_standing else "had been kept apart from"
        case _ if link.by_hand:
            return "is no longer kept apart from"
        case LinkKind.DUPLICATE:
            return "may say the same as"
        case LinkKind.UPDATE:
            return "may be replaced by" if other and other.said_at > known.said_at else "may replace"
        case LinkKind.RELATED:
            return "is kept beside"
