"""`nous calibrate`: when two facts are one, measured for the embedder that is set."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import click

from nous.app import World, build
from nous.bus.base import Lane, Refused
from nous.cli.framework import App
from nous.cli.lookup import ALL, episode_of, knowledge_of, scopes_named
from nous.cli.output import counted, print_json, say, table
from nous.domain.effects import Effects, ExpectEpisode, NoteTried
from nous.domain.episode import Episode, Tier
from nous.domain.errors import BadInput, Misconfigured
from nous.domain.scope import Scope
from nous.facts.calibration import Calibration, shipped
from nous.facts.calibration import calibrate as measure
from nous.facts.events import unembedded, unembedded_episodes
from nous.jobs.rq.worker_stats import workers_seen
from nous.pipeline.fact_learner import RULINGS
from nous.runtime.maintenance import outdated


@click.command()
@click.option("--dry-run", is_flag=True, help="Only measure.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every step.")
@click.pass_obj
def calibrate(app: App, *, dry_run: bool, as_json: bool) -> None:
    """Measure from which cosine on one of two texts may say more than the other, for the embedder that is set.

    The pairs it is measured on come with nous. The threshold is kept with the embedder's name, and used by whatever is
    started from then on; an embedder without one merges only texts of equal content.
    """
    world = build(app.settings)
    embedder = world.kit.embedder
    found = measure(shipped(), embedder.embed, embedder_id=embedder.id)
    if not dry_run:
        world.calibrations.keep(found.embedder_id, found.one_sided)
    if as_json:
        print_json(asdict(found))
        return
    click.echo(_steps(found))
    click.echo(f"\n{_verdict(found)}")
    if not dry_run:
        click.echo("Kept; workers that run take it up when they are started again.")


def _steps(found: Calibration) -> str:
    rows = [(f"{step.threshold:.3f}", str(step.merged), str(step.false_merges)) for step in found.table]
    return table(("cosine from", "merged", "falsely"), rows)


def _verdict(found: Calibration) -> str:
    share = f"{found.false_merges} of {found.pairs} pairs are merged falsely, and {found.recall:.2f} of the right ones"
    if found.one_sided is None:
        return f"{found.embedder_id}: no threshold is safe, so only texts of equal content are merged. {share}."
    return f"{found.embedder_id}: from {found.one_sided:.3f} on one text may say more. With it {share}."


class Waiting(NamedTuple):
    """How many facts and episodes of a scope have no vector."""

    facts: int
    episodes: int

    def __str__(self) -> str:
        told = (counted(count, noun) for count, noun in zip(self, ("fact", "episode"), strict=True) if count)
        return " and ".join(told)


@click.command()
@click.option("--scope", multiple=True, help="Only this scope; may be given again. Without it, all of them.")
@click.option("--dry-run", is_flag=True, help="Only count.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def reembed(app: App, *, scope: Sequence[str], dry_run: bool, as_json: bool) -> None:
    """Have workers embed the facts and episodes that have no vector by the embedder that is set.

    So after the embedder was changed, and the workers were started anew with it, or after it did not answer; and for
    episodes of before they had any. Facts are compared with the others by it. Vectors by another embedder stay where
    they are, so workers that still use it are not disturbed, and going back costs nothing.
    """
    world = build(app.settings)
    embedder = world.kit.embedder.id
    counts = {each: _waiting(world, each, embedder) for each in scopes_named(world, scope)}
    waiting = {each: count for each, count in counts.items() if any(count)}
    if not dry_run:
        for each, count in waiting.items():
            _hand_over(world, each, count)
    if as_json:
        print_json([_as_object(*row, embedder, is_handed_over=not dry_run) for row in waiting.items()])
    else:
        click.echo("\n".join(_lines(waiting, embedder, is_dry=dry_run)))
    if waiting and not dry_run and not workers_seen(world.rq_client, world.job_names):
        click.echo("nous: no worker runs: nous up", err=True)


def _waiting(world: World, scope: Scope, embedder: str) -> Waiting:
    with knowledge_of(world, scope) as knowledge:
        facts = sum(1 for _ in knowledge.without_vector())
    return Waiting(facts, len(world.kit.episode_vectors.without_vector(scope, embedder=embedder)))


def _hand_over(world: World, scope: Scope, count: Waiting) -> None:
    # Each demand is a new one: workers that still had another embedder may have passed over one for the same facts.
    demand, at = str(uuid4()), world.kit.clock()
    if count.facts:
        world.bus.publish(unembedded(scope, state=demand, at=at))
    if count.episodes:
        world.bus.publish(unembedded_episodes(scope, state=demand, at=at), lane=Lane.BULK)


def _lines(waiting: Mapping[Scope, Waiting], embedder: str, *, is_dry: bool) -> Iterator[str]:
    for scope, count in waiting.items():
        verb = "would be" if is_dry else "was" if sum(count) == 1 else "were"
        yield f"{scope}: {count} without a vector by {embedder} {verb} handed to workers"
    if not waiting:
        yield f"every fact has its vector by {embedder}, and every episode"


def _as_object(scope: Scope, count: Waiting, embedder: str, *, is_handed_over: bool) -> dict[str, Any]:
    return {"scope": str(scope), **count._asdict(), "embedder": embedder, "handed_over": is_handed_over}


@click.command()
@click.option("--scope", help="project, agent/project or tenant/agent/project")
@click.option("--all", "everything", is_flag=True, help="Every scope.")
@click.pass_obj
def reindex(app: App, *, scope: str | None, everything: bool) -> None:
    """Build the index of a scope's facts anew from its log, and drop those of other embedders.

    Workers may run meanwhile: they take part in the building, and judge nothing by an index that is not complete.
    """
    if everything == bool(scope):
        raise BadInput("name a --scope, or say --all")
    world = build(app.settings)
    scopes = scopes_named(world, [scope] if scope else [])
    indexes, embedder = world.kit.memory.indexes, world.kit.embedder
    if indexes is None:
        click.echo('each process holds its own index and builds it when it starts (index.engine = "memory")')
        return
    built = [(str(each), indexes.rebuild(each, embedder=embedder.id, dim=embedder.dim)) for each in scopes]
    click.echo(table(("scope", "facts"), ((name, f"{count:,}") for name, count in built)) if built else "no scopes")


@click.command()
@click.argument("sessions", nargs=-1, metavar="[SESSION...]")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--all", "everything", is_flag=True, help="Every session of the scope.")
@click.option("--extractive", is_flag=True, help="With --all: only those that no model has made.")
@click.option("--dry-run", is_flag=True, help="Say what would be made anew.")
@click.pass_obj
def reprocess(
    app: App, sessions: Sequence[str], *, scope: str, everything: bool, extractive: bool, dry_run: bool
) -> None:
    """Have the episodes of sessions made anew, from what was kept of them when they were first made.

    Each new edition is made aside and then takes the place of the one there is, which stays reachable: `nous episodes
    --editions`. What this model and this prompt have made already is left as it is. The model is asked afresh: what it
    has answered about these sessions before is forgotten.
    """
    world, within = build(app.settings), Scope.parse(scope)
    world.check_model()
    author = world.kit.author
    if author is None:
        raise Misconfigured("there is no model to make them: set background_model, in the settings or the environment")
    if everything and sessions:
        raise BadInput("sessions were named, and --all was said: choose one of the two")
    if not (everything or sessions):
        raise BadInput("name the sessions, or say --all: `nous episodes` lists them")
    named = list(_chosen(world, sessions, within))
    chosen = [each for each in named if not extractive or _is_extractive(each)]
    if not dry_run:
        _forget_answers(world, [each.id for each in named] if sessions else (), within)
    rows = [(each, _what_becomes(world, each, by=author.by, dry_run=dry_run)) for each in chosen]
    if not rows:
        say("there is nothing to make anew")
        return
    say(table(("session", "made by", "now"), ((e.session_id, _maker(e), said) for e, said in rows)))


def _chosen(world: World, sessions: Sequence[str], scope: Scope) -> Iterator[Episode]:
    if not sessions:
        yield from world.kit.episodes.recent(scope, ALL)
    yield from (episode_of(session, world, scope) for session in sessions)


def _forget_answers(world: World, episodes: Sequence[UUID], scope: Scope) -> None:
    """Let go what was kept of the model's answers: those that could not be used would be found and taken again.

    Without *episodes*, of all the scope.
    """
    for subject in (*episodes, RULINGS) if episodes else (None,):
        world.model_books.pins.drop(scope, subject)


def _what_becomes(world: World, episode: Episode, *, by: str, dry_run: bool) -> str:
    """Have *episode* made anew, unless that makes no sense; in a few words, what was done."""
    if episode.by == by:
        return "as it is: this model and prompt made it"
    if world.kit.briefs.brief(episode.scope, episode.id) is None:
        return "as it is: nothing was kept to make it from; publish its session again when it has grown"
    if dry_run:
        return "would be made anew"
    event = outdated(episode, by=by, reason="reprocess", kit=world.kit, occasion=str(uuid4()))
    # An extractive episode would otherwise be offered to the model once more, by whoever does so by itself.
    tried = NoteTried(scope=episode.scope, episode_id=episode.id, by=by)
    expected = ExpectEpisode(scope=episode.scope, episode_id=episode.id, state=episode.state)
    writes = (expected, tried) if _is_extractive(episode) else (expected,)
    if isinstance(world.bus.apply(Effects(writes=writes, events=(event,)), lane=Lane.BULK), Refused):
        return "as it is: it was made anew, or forgotten, meanwhile"
    return f"will be made anew, by workers that run with {by}"


def _maker(episode: Episode) -> str:
    return "extractive" if _is_extractive(episode) else episode.by


def _is_extractive(episode: Episode) -> bool:
    return episode.tier is Tier.EXTRACTIVE
