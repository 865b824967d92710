"""A fact as commands print it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from nous.cli.show import counted
from nous.fact import LinkKind
from nous.learning.known import Knowledge, KnownFact
from nous.learning.settling import offers_of
from nous.readable import one_line, shortened
from nous.recall.hits import EarlierValue, earlier_values

_MOST_EARLIER = 3


def fact_lines(known: KnownFact, knowledge: Knowledge) -> Iterator[str]:
    """A fact for the eye: what is known, then from where, then what was true before or may be instead."""
    fact = known.fact
    times = f", said by {known.times_confirmed} sessions" if known.times_confirmed > 1 else ""
    state = "" if known.is_current else "  (superseded)"
    yield f"{one_line(fact.text)}{state}"
    place = place_told(fact.source.session_id, fact.source.turns)
    yield f"  {fact.category}, {known.said_at:%Y-%m-%d}, {known.trust}'s words, {place}{times}  {fact.id}"
    if gone := known.superseded:
        then = f"until {gone.valid_to:%Y-%m-%d}, then" if gone.valid_to else "now"
        yield f"  {then}: {_named(knowledge.get(gone.by))}"
        return
    yield from (f"  {line}" for line in earlier_lines(earlier_values(fact.id, knowledge)))
    for offer in offers_of(known, knowledge):
        if offer.link.kind is LinkKind.UPDATE:
            is_newer = offer.newer.fact.id == fact.id
            relation, other = ("may replace", offer.older) if is_newer else ("may be replaced by", offer.newer)
            yield f"  {relation}: {_named(other)}"


def earlier_lines(earlier: Sequence[EarlierValue]) -> Iterator[str]:
    """The latest of the values that a fact had before, and how many there are besides."""
    for each in earlier[:_MOST_EARLIER]:
        yield f"earlier, until {each.until:%Y-%m-%d}: {shortened(each.text, 90)}  {each.id}"
    if (more := len(earlier) - _MOST_EARLIER) > 0:
        yield f"and before: {counted(more, 'value')}"


def _named(known: KnownFact | None) -> str:
    return f"{shortened(known.fact.text, 90)}  {known.fact.id}" if known else "(a fact that is not there any more)"


def place_told(session_id: str, turns: Sequence[int]) -> str:
    return f"session {session_id}" + (f" turn {', '.join(map(str, turns))}" if turns else "")


def fact_object(known: KnownFact, knowledge: Knowledge) -> dict[str, Any]:
    """A fact as JSON."""
    return {
        **asdict(known.fact),
        "current": known.is_current,
        "times_confirmed": known.times_confirmed,
        "sources": [asdict(source) for source in dict.fromkeys(known.sources)],
        "said_as": known.said_as,
        "trust": known.trust,
        "valid_from": known.valid_from,
        "superseded": asdict(known.superseded) if known.superseded else None,
        "replaces": [asdict(row) for row in known.replaces],
        "earlier": [asdict(each) for each in earlier_values(known.fact.id, knowledge)],
        "links": [asdict(link) for link in known.standing_links.values()],
    }
