"""`nous episodes` and `nous facts`: what is remembered."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from urllib.parse import unquote

import click

from nous.cli.fact_lines import fact_lines, fact_object
from nous.cli.frame import App
from nous.cli.knowing import elsewhere, episode_of, knowledge_of
from nous.cli.learn import learn
from nous.cli.settle import duplicates, keep_apart, merge, supersede, unsettle
from nous.cli.show import counted, in_words, print_json, say
from nous.episode import Episode, Tier
from nous.readable import one_line, shortened
from nous.scope import Scope
from nous.wiring import World, build

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
