"""`nous episodes` and `nous facts`: what is remembered."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import unquote

import click

from nous.app import World, build
from nous.cli.framework import App
from nous.cli.learn import learn
from nous.cli.lookup import ALL, checked_beginning, elsewhere, episode_of, fact_lines, fact_object, knowledge_of, one_of
from nous.cli.output import counted, in_words, print_json, say, table
from nous.cli.settle import duplicates, keep_apart, merge, supersede, unsettle
from nous.domain.episode import Episode, Tier
from nous.domain.errors import NotFound
from nous.domain.fact import Learned, Source, Superseded, standing
from nous.domain.scope import Scope
from nous.search.provenance import GAVE_WAY, Grounds, Relative, Telling, grounds, named
from nous.store.base import NO_VECTORS
from nous.text.sanitize import one_line, shortened

_SCOPE = click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command()
@_SCOPE
@click.option(
    "--limit", default=50, type=click.IntRange(min=1), show_default=True, help="At most so many, those that ended last."
)
@click.option("--editions", metavar="SESSION", help="Of one session, every edition of its episode, the newest first.")
@_JSON
@click.pass_obj
def episodes(app: App, *, scope: str, limit: int, editions: str | None, as_json: bool) -> None:
    """List what sessions have left behind: outcome, lessons, and which transcript each was made from."""
    world, within = build(app.settings), Scope.parse(scope)
    found = _found(world, within, limit=limit + 1, editions_of=editions)
    if len(found) > limit:
        found = found[:limit]
        say(f"nous: there are more than these {limit}; --limit shows more", err=True)
    if as_json:
        print_json([asdict(episode) for episode in found])
    else:
        say(
            "\n\n".join("\n".join(episode_lines(episode)) for episode in found)
            or f"no episodes in {scope}{elsewhere(world, within)}"
        )
        if len(found) > 1:
            say(f"\n{_in_sum(found)}")


def _found(world: World, scope: Scope, *, limit: int, editions_of: str | None) -> Sequence[Episode]:
    stored = world.kit.episodes
    if editions_of is None:
        return stored.recent(scope, limit)
    return stored.editions(scope, episode_of(editions_of, world, scope).id)[:limit]


@click.group(invoke_without_command=True)
@_SCOPE
@click.option("--all", "everything", is_flag=True, help="Superseded facts too.")
@_JSON
@click.pass_context
def facts(ctx: click.Context, *, scope: str, everything: bool, as_json: bool) -> None:
    """List what is known, what was said last at the end: on which day, by whom, in which session and turns.

    What was true before stands below, with the day until which it was. `facts learn` adds to what is known, and `facts
    duplicates` lists what may be known twice.
    """
    if ctx.invoked_subcommand is not None:
        return
    app: App = ctx.obj
    world, within = build(app.settings), Scope.parse(scope)
    with knowledge_of(world, within) as knowledge:
        known = [each for each in knowledge if everything or each.is_current]
        if as_json:
            print_json([fact_object(each, knowledge) for each in known])
        else:
            by_time = sorted(known, key=lambda each: each.said_at)
            told = "\n".join(line for each in by_time for line in fact_lines(each, knowledge))
            say(told or f"no facts in {scope}{elsewhere(world, within)}")


for command in (learn, supersede, duplicates, merge, keep_apart, unsettle):
    facts.add_command(command)


def episode_lines(episode: Episode) -> Iterator[str]:
    """An episode for the eye."""
    summary = episode.summary
    yield f"{one_line(summary.title)}  [{summary.outcome}{'' if episode.is_sure else ', unsure'}]"
    yield f"  session {episode.session_id} ({episode.format}, {episode.entries} entries), {_made_by(episode)}"
    if episode.made_do:
        yield f"  extractive for now: {shortened(in_words(episode.made_do), 140)}"
    if episode.dataref:
        yield f"  from {one_line(unquote(episode.dataref.removeprefix('file://')))}"
    yield f"  because {one_line(summary.outcome_rationale)}"
    yield from (f"  decided: {shortened(each.description, 140)}" for each in episode.decisions if not each.turns)
    yield from (f"  - {shortened(point, 160)}" for point in summary.key_points)
    yield from (f"  open: {shortened(thread, 150)}" for thread in summary.still_open)


def _in_sum(episodes: Sequence[Episode]) -> str:
    """How many there are of each outcome, and of how many nothing shows it."""
    outcomes = Counter(str(episode.summary.outcome) for episode in episodes)
    told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    unsure = sum(not episode.is_sure for episode in episodes)
    extractive = sum(episode.tier is Tier.EXTRACTIVE for episode in episodes)
    doubts = ", ".join(f"{count} {what}" for count, what in ((unsure, "unsure"), (extractive, "extractive")) if count)
    return f"{counted(len(episodes), 'episode')}: {told}" + (f"; {doubts} of them" if doubts else "")


def _made_by(episode: Episode) -> str:
    edition = f", edition {episode.edition}" if episode.edition > 1 else ""
    if episode.tier is Tier.EXTRACTIVE:
        return f"extractive summary{edition}"
    cost = f", {episode.tokens.total:,} tokens" if episode.tokens else ""
    return f"summary by {episode.model} with {episode.prompt_version}{cost}{edition}"


@click.command()
@click.argument("fact")
@click.option(
    "--scope", help="project, agent/project or tenant/agent/project; without it, every scope is looked through."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def why(app: App, fact: str, *, scope: str | None, as_json: bool) -> None:
    """Show how FACT is known: its id as `nous facts` prints it, or the beginning of it.

    Every session that said it, in which turns and words, what read it there, and why it was merged with others, took
    their place, gave way to them, or was kept beside them.
    """
    world = build(app.settings)
    found = _grounds_found(fact, world, [Scope.parse(scope)] if scope else list(world.kit.episodes.scopes()))
    if as_json:
        print_json(_as_object(found))
    else:
        say("\n".join(_lines(found)))


def _grounds_found(name: str, world: World, scopes: list[Scope]) -> Grounds:
    checked_beginning(name)
    for scope in scopes:
        with knowledge_of(world, scope) as knowledge:
            if len(scopes) == 1 or named(name, knowledge):
                known = one_of(name, knowledge, world, scope)
                return grounds(known.fact.id, knowledge, partial(world.kit.briefs.brief, scope))
    raise NotFound(f"there is no fact {name!r} in any scope")


def _lines(found: Grounds) -> Iterator[str]:
    known, fact = found.known, found.known.fact
    yield one_line(fact.text)
    about = f" about {one_line(fact.subject)}" if fact.subject else ""
    kind = f"{'an' if fact.category[0] in 'aeiou' else 'a'} {fact.category} fact"
    yield f"  {kind}{about} in {fact.scope}, said by {counted(known.times_confirmed, 'session')}; {_state(found)}"
    yield f"  {fact.id}"
    below = {(each.at, each.reason): f"it {each.relation} another, see below" for each in found.relatives}
    for number, telling in enumerate(found.tellings):
        reason = below.get((telling.at, telling.reason), telling.reason)
        yield from _telling(replace(telling, reason=reason), is_first=number == 0)
    for relative in found.relatives:
        yield from _relative(relative)


def _state(found: Grounds) -> str:
    known = found.known
    if known.is_current:
        return f"true since {_day(known.valid_from)}, as far as is known"
    until = known.superseded.valid_to if known.superseded else None
    return f"true until {_day(until)}, then corrected" if until else "superseded by other words for it"


def _telling(telling: Telling, *, is_first: bool) -> Iterator[str]:
    near = "" if telling.similarity is None else f" (cosine {telling.similarity:.2f})"
    yield f"\n{'learned' if is_first else 'said again'} {_day(telling.at)}: {one_line(telling.reason)}{near}"
    if not is_first:
        yield f"  in the words: {one_line(telling.text)}"
    yield from (f"  {line}" for line in _place(telling.source))
    yield from (f"  > {shortened(quote, 320)}" for quote in telling.quotes)


def _place(source: Source) -> Iterator[str]:
    turns = f", turn {', '.join(map(str, source.turns))}" if source.turns else ""
    said = f", which ended {source.said_at:%Y-%m-%d %H:%M} UTC" if source.said_at else ""
    yield f"session {source.session_id}{turns}{said}; {source.trust}'s words"
    yield f"episode {source.episode_id}, event {source.event_id}"
    if source.digest or source.by:
        yield f"transcript sha256 {source.digest or 'unknown'}, read by: {source.by or 'unknown'}"


def _relative(relative: Relative) -> Iterator[str]:
    """Of two facts that cannot both be true, `valid_to` is until when the older one was."""
    reason = one_line(relative.reason)
    hand = f" (by hand, on {_day(relative.at)})" if relative.by_hand else ""
    if relative.relation == GAVE_WAY:
        yield f"\ngave way on {_day(relative.valid_to or relative.at)} to {relative.fact_id}: {reason}{hand}"
    else:
        until = f", which was true until {_day(relative.valid_to)}" if relative.valid_to else ""
        likely = "" if relative.likelihood is None else f" (likelihood {relative.likelihood:.2f})"
        yield f"\n{relative.relation} {relative.fact_id}{until}{likely}: {reason}{hand}"
    yield f"  {shortened(relative.text, 300)}"


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else "an unknown day"


def _as_object(found: Grounds) -> dict[str, Any]:
    known = found.known
    return {
        "fact": asdict(known.fact),
        "current": known.is_current,
        "times_confirmed": known.times_confirmed,
        "trust": known.trust,
        "valid_from": known.valid_from,
        "valid_to": known.superseded.valid_to if known.superseded else None,
        "said": [asdict(telling) for telling in found.tellings],
        "relations": [asdict(relative) for relative in found.relatives],
    }


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def scopes(app: App, *, as_json: bool) -> None:
    """List the scopes: how many sessions have left an episode, how many facts are current, when one was learned last.

    A scope is one user's or project's memory, as --scope names it; nothing is read or merged across scopes.
    """
    world = build(app.settings)
    rows = [_row(world, scope) for scope in world.kit.episodes.scopes()]
    if as_json:
        print_json(rows)
    elif rows:
        cells = ((str(each["sessions"]), str(each["facts"]), _last_day(each), each["scope"]) for each in rows)
        say(table(("sessions", "facts", "last learned", "scope"), cells))
    else:
        say("there is no scope yet: nous publish makes one")


def _row(world: World, scope: Scope) -> dict[str, Any]:
    rows = world.kit.facts.read(scope, embedder=NO_VECTORS).rows
    learned = {row.fact.id: row.fact.learned_at for row in rows if isinstance(row, Learned)}
    gave_way = {row.fact_id for row in standing(rows) if isinstance(row, Superseded)}
    return {
        "scope": str(scope),
        "sessions": len(world.kit.episodes.recent(scope, ALL)),
        "facts": len(learned.keys() - gave_way),
        "last_learned": max(learned.values(), default=None),
    }


def _last_day(row: dict[str, Any]) -> str:
    return f"{row['last_learned']:%Y-%m-%d}" if row["last_learned"] else "-"
