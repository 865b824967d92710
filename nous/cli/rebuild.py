"""Commands that recompute derived data: calibrate, reembed, reindex and reprocess."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import click

from nous.app.container import Container, build
from nous.bus.base import Conflict, Priority
from nous.cli.framework import App
from nous.cli.lookup import ALL, episode_of, knowledge_of, scopes_named
from nous.cli.output import counted, print_json, say, table
from nous.domain.effects import Effects, ExpectEpisode, RecordResummaryAttempt
from nous.domain.episode import Episode, Tier
from nous.domain.errors import BadInput, Misconfigured
from nous.domain.scope import Scope
from nous.jobs.rq.worker_stats import workers_seen
from nous.knowledge.calibration import Calibration, shipped
from nous.knowledge.calibration import calibrate as measure
from nous.knowledge.events import unembedded, unembedded_episodes
from nous.pipeline.fact_learner import RULINGS
from nous.runtime.maintenance import outdated


@click.command()
@click.option("--dry-run", is_flag=True, help="Measure only. Store nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every step.")
@click.pass_obj
def calibrate(app: App, *, dry_run: bool, as_json: bool) -> None:
    """Measure the merge threshold of the configured embedder.

    It is the cosine from which on one of two merged texts may say more than the other. nous comes with the pairs that
    it is measured on. The threshold is stored with the embedder's name. Every process started from then on uses it. If
    an embedder has no threshold, only texts of equal content are merged.
    """
    container = build(app.settings)
    embedder = container.memory.embedder
    found = measure(shipped(), embedder.embed, embedder_id=embedder.id)
    if not dry_run:
        container.calibrations.keep(found.embedder_id, found.one_sided)
    if as_json:
        print_json(asdict(found))
        return
    click.echo(_steps(found))
    click.echo(f"\n{_verdict(found)}")
    if not dry_run:
        click.echo("Stored; running workers use it once they are restarted.")


def _steps(found: Calibration) -> str:
    rows = [(f"{step.threshold:.3f}", str(step.merged), str(step.false_merges)) for step in found.table]
    return table(("cosine from", "merged", "falsely"), rows)


def _verdict(found: Calibration) -> str:
    share = f"{found.false_merges} of {found.pairs} pairs are merged falsely, and {found.recall:.2f} of the right ones"
    if found.one_sided is None:
        return f"{found.embedder_id}: no threshold is safe, so only texts of equal content are merged. {share}."
    return f"{found.embedder_id}: from {found.one_sided:.3f} on one text may say more. With it {share}."


class PendingVectors(NamedTuple):
    """Number of facts and episodes of a scope that have no vector."""

    facts: int
    episodes: int

    def __str__(self) -> str:
        parts = (counted(count, noun) for count, noun in zip(self, ("fact", "episode"), strict=True) if count)
        return " and ".join(parts)


@click.command()
@click.option("--scope", multiple=True, help="Only this scope. Repeat it for several. Default: all scopes.")
@click.option("--dry-run", is_flag=True, help="Count only. Queue nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def reembed(app: App, *, scope: Sequence[str], dry_run: bool, as_json: bool) -> None:
    """Queue the facts and episodes that have no vector of the configured embedder.

    Run it after you changed the embedder and restarted the workers, or after the embedder was unavailable. It also
    covers episodes that were stored before episodes had vectors. Workers compute the vectors and compare the facts by
    them. Vectors of another embedder are kept: workers that still use it are not disturbed, and going back costs
    nothing.
    """
    container = build(app.settings)
    embedder = container.memory.embedder.id
    counts = {each: _waiting(container, each, embedder) for each in scopes_named(container, scope)}
    waiting = {each: count for each, count in counts.items() if any(count)}
    if not dry_run:
        for each, count in waiting.items():
            _enqueue(container, each, count)
    if as_json:
        print_json([_as_object(*row, embedder, is_queued=not dry_run) for row in waiting.items()])
    else:
        click.echo("\n".join(_lines(waiting, embedder, is_dry=dry_run)))
    if waiting and not dry_run and not workers_seen(container.rq_client, container.job_names):
        click.echo("nous: no worker runs: nous up", err=True)


def _waiting(container: Container, scope: Scope, embedder: str) -> PendingVectors:
    with knowledge_of(container, scope) as knowledge:
        facts = sum(1 for _ in knowledge.without_vector())
    return PendingVectors(facts, len(container.memory.episode_vectors.without_vector(scope, embedder=embedder)))


def _enqueue(container: Container, scope: Scope, count: PendingVectors) -> None:
    # Each request gets a new id: workers that still had another embedder may have skipped one for the same facts.
    request, at = str(uuid4()), container.context.clock()
    if count.facts:
        container.bus.publish(unembedded(scope, state=request, at=at))
    if count.episodes:
        container.bus.publish(unembedded_episodes(scope, state=request, at=at), priority=Priority.BULK)


def _lines(waiting: Mapping[Scope, PendingVectors], embedder: str, *, is_dry: bool) -> Iterator[str]:
    for scope, count in waiting.items():
        verb = "would be" if is_dry else "was" if sum(count) == 1 else "were"
        yield f"{scope}: {count} without a vector by {embedder} {verb} queued"
    if not waiting:
        yield f"every fact has its vector by {embedder}, and every episode"


def _as_object(scope: Scope, count: PendingVectors, embedder: str, *, is_queued: bool) -> dict[str, Any]:
    return {"scope": str(scope), **count._asdict(), "embedder": embedder, "handed_over": is_queued}


@click.command()
@click.option("--scope", help="project, agent/project or tenant/agent/project")
@click.option("--all", "everything", is_flag=True, help="Rebuild the index of every scope.")
@click.pass_obj
def reindex(app: App, *, scope: str | None, everything: bool) -> None:
    """Rebuild the fact index of a scope from its log, and drop those of other embedders.

    Workers may keep running. They help to build it, and judge nothing by an incomplete index.
    """
    if everything == bool(scope):
        raise BadInput("name a --scope, or say --all")
    container = build(app.settings)
    scopes = scopes_named(container, [scope] if scope else [])
    indexes, embedder = container.memory.fact_cache.indexes, container.memory.embedder
    if indexes is None:
        click.echo('each process holds its own index and builds it when it starts (index.engine = "memory")')
        return
    built = [(str(each), indexes.rebuild(each, embedder=embedder.id, dim=embedder.dim)) for each in scopes]
    click.echo(table(("scope", "facts"), ((name, f"{count:,}") for name, count in built)) if built else "no scopes")


@click.command()
@click.argument("sessions", nargs=-1, metavar="[SESSION...]")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--all", "everything", is_flag=True, help="Regenerate every session of the scope.")
@click.option("--extractive", is_flag=True, help="With --all: only episodes that no model has made.")
@click.option("--dry-run", is_flag=True, help="Show what would be regenerated. Change nothing.")
@click.pass_obj
def reprocess(
    app: App, sessions: Sequence[str], *, scope: str, everything: bool, extractive: bool, dry_run: bool
) -> None:
    """Regenerate the episodes of sessions with the configured model.

    The input is what was stored when the episode was first made. A new edition is prepared separately and then replaces
    the current one, which stays available: `nous episodes --editions`. Episodes that this model and prompt have made
    already stay as they are. The model is called afresh: its earlier answers about these sessions are deleted.
    """
    container, within = build(app.settings), Scope.parse(scope)
    container.check_model()
    summarizer = container.context.summarizer
    if summarizer is None:
        raise Misconfigured("no model is configured: set background_model, in the settings or the environment")
    if everything and sessions:
        raise BadInput("you named sessions and said --all: choose one of the two")
    if not (everything or sessions):
        raise BadInput("name the sessions, or say --all: `nous episodes` lists them")
    named = list(_chosen(container, sessions, within))
    chosen = [each for each in named if not extractive or _is_extractive(each)]
    if not dry_run:
        _invalidate_answers(container, [each.id for each in named] if sessions else (), within)
    rows = [(each, _regenerate(container, each, by=summarizer.by, dry_run=dry_run)) for each in chosen]
    if not rows:
        say("there is nothing to regenerate")
        return
    say(table(("session", "made by", "now"), ((e.session_id, _maker(e), result) for e, result in rows)))


def _chosen(container: Container, sessions: Sequence[str], scope: Scope) -> Iterator[Episode]:
    if not sessions:
        yield from container.memory.episodes.recent(scope, ALL)
    yield from (episode_of(session, container, scope) for session in sessions)


def _invalidate_answers(container: Container, episodes: Sequence[UUID], scope: Scope) -> None:
    """Delete cached model answers; otherwise even unusable ones would be used again.

    Without *episodes*, delete those of the whole scope.
    """
    for subject in (*episodes, RULINGS) if episodes else (None,):
        container.llm_stores.responses.invalidate(scope, subject)


def _regenerate(container: Container, episode: Episode, *, by: str, dry_run: bool) -> str:
    """Request the regeneration of *episode* if it makes sense; return the result in words."""
    if episode.by == by:
        return "as it is: this model and prompt made it"
    if container.memory.summary_inputs.summary_input(episode.scope, episode.id) is None:
        return "as it is: nothing was kept to make it from; publish its session again when it has grown"
    if dry_run:
        return "would be regenerated"
    event = outdated(episode, by=by, reason="reprocess", context=container.context, occasion=str(uuid4()))
    # Otherwise the background resummarizer would offer an extractive episode to the model once more.
    tried = RecordResummaryAttempt(scope=episode.scope, episode_id=episode.id, by=by)
    expected = ExpectEpisode(scope=episode.scope, episode_id=episode.id, state=episode.state)
    writes = (expected, tried) if _is_extractive(episode) else (expected,)
    if isinstance(container.bus.apply(Effects(writes=writes, events=(event,)), priority=Priority.BULK), Conflict):
        return "as it is: it was regenerated, or forgotten, meanwhile"
    return f"will be regenerated by workers that run with {by}"


def _maker(episode: Episode) -> str:
    return "extractive" if _is_extractive(episode) else episode.by


def _is_extractive(episode: Episode) -> bool:
    return episode.tier is Tier.EXTRACTIVE
