"""Format episodes and facts as lines of text, and facts as dicts for JSON output."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from nous.cli.output import counted, day, fitted, in_words, path_of
from nous.domain.episode import Episode, Lesson, Tier
from nous.domain.fact import LinkKind
from nous.knowledge.fact_index import Earlier, FactIndex, KnownFact
from nous.knowledge.open_pairs import open_pairs_of
from nous.text.sanitize import one_line

_MOST_EARLIER = 3


def episode_lines(episode: Episode) -> Iterator[str]:
    summary = episode.summary
    yield _title(episode)
    yield f"  session {episode.session_id} ({episode.format}, {episode.entries} entries), {_made_by(episode)}"
    if episode.made_do:
        yield f"  extractive for now: {fitted(in_words(episode.made_do), beside=22)}"
    if episode.dataref:
        yield f"  from {path_of(episode.dataref)}"
    yield f"  because {one_line(summary.outcome_rationale)}"
    recorded = dict.fromkeys(each.description for each in episode.decisions if not each.turns)
    yield from (f"  decided: {fitted(description, beside=11)}" for description in recorded)
    yield from (f"  - {fitted(point, beside=4)}" for point in map(_point, summary.lessons))
    yield from (f"  open: {fitted(thread, beside=8)}" for thread in summary.still_open)


def whole_episode(episode: Episode) -> Iterator[str]:
    summary = episode.summary
    yield _title(episode)
    yield f"session {episode.session_id} in {episode.scope}, ended {episode.ended_at:%Y-%m-%d %H:%M} UTC"
    yield f"{episode.format}, {counted(episode.entries, 'entry', 'entries')}, {_made_by(episode)}"
    if episode.dataref:
        yield f"from {path_of(episode.dataref)}"
    yield from ("", summary.summary, "", f"outcome: {one_line(summary.outcome_rationale)}")
    if episode.contradiction not in {None, summary.outcome_rationale}:
        yield f"unsure: {one_line(episode.contradiction or '')}"
    yield from _listed("decided", (decision.description for decision in episode.decisions))
    yield from _listed("learned", map(_point, summary.lessons))
    yield from _listed("files", episode.files_touched)
    yield from _listed("open", summary.open_threads)
    yield from _listed("not stored", (f"{count} because: {reason}" for reason, count in episode.dropped_facts))


def _title(episode: Episode) -> str:
    summary = episode.summary
    return f"{one_line(summary.title)}  [{summary.outcome}{'' if episode.is_sure else ', unsure'}]"


def _point(lesson: Lesson) -> str:
    return lesson.text + (f" (turn {', '.join(map(str, lesson.turns))})" if lesson.turns else "")


def _made_by(episode: Episode) -> str:
    edition = f", edition {episode.edition}" if episode.edition > 1 else ""
    if episode.tier is Tier.EXTRACTIVE:
        return f"extractive summary{edition}"
    cost = f", {episode.tokens.total:,} tokens" if episode.tokens else ""
    return f"summary by {episode.model} with {episode.prompt_version}{cost}{edition}"


def _listed(head: str, items: Iterable[str]) -> Iterator[str]:
    if found := [f"- {item}" for item in dict.fromkeys(map(one_line, items))]:
        yield from ("", f"{head}:", *found)


def fact_lines(known: KnownFact, knowledge: FactIndex) -> Iterator[str]:
    """Yield a fact, its first source, then earlier values and possible updates."""
    fact = known.fact
    times = f", said by {known.times_confirmed} sessions" if known.times_confirmed > 1 else ""
    place = place_text(fact.source.session_id, fact.source.turns)
    yield f"{one_line(fact.text)}{'' if known.is_current else '  (superseded)'}"
    said_at = fact.source.said_at or fact.learned_at
    yield f"  {fact.category}, {day(said_at)}, {known.trust.word}'s words, {place}{times}  {fact.id}"
    if gone := known.superseded:
        then = f"until {day(gone.valid_to)}, then" if gone.valid_to else "now"
        yield f"  {then}: {_named(knowledge.get(gone.by))}"
        return
    yield from (f"  {line}" for line in earlier_lines(knowledge.earlier(fact.id)))
    for offer in open_pairs_of(known, knowledge):
        if offer.link.kind is LinkKind.UPDATE:
            is_newer = offer.newer.fact.id == fact.id
            relation, other = ("may replace", offer.older) if is_newer else ("may be replaced by", offer.newer)
            yield f"  {relation}: {_named(other)}"


def earlier_lines(earlier: Sequence[Earlier]) -> Iterator[str]:
    """Yield the latest earlier values of a fact, and the number of further ones."""
    for each in earlier[:_MOST_EARLIER]:
        yield f"earlier, until {day(each.until)}: {fitted(each.text, beside=80)}  {each.id}"
    if (more := len(earlier) - _MOST_EARLIER) > 0:
        yield f"and before: {counted(more, 'value')}"


def _named(known: KnownFact | None) -> str:
    return f"{fitted(known.fact.text, beside=80)}  {known.fact.id}" if known else "(a fact that no longer exists)"


def place_text(session_id: str, turns: Sequence[int]) -> str:
    return f"session {session_id}" + (f" turn {', '.join(map(str, turns))}" if turns else "")


def fact_object(known: KnownFact, knowledge: FactIndex) -> dict[str, Any]:
    return {
        **asdict(known.fact),
        "current": known.is_current,
        "times_confirmed": known.times_confirmed,
        "sources": list(dict.fromkeys(known.sources)),
        "said_as": known.said_as,
        "trust": known.trust,
        "valid_from": known.valid_from,
        "superseded": known.superseded,
        "replaces": known.replaces,
        "earlier": knowledge.earlier(known.fact.id),
        "links": list(known.standing_links.values()),
    }
