"""Calibrate the merging of facts, queue re-embedding and re-summarizing."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import click

from nous.app.container import Container
from nous.app.services import embed_missing
from nous.bus.base import Conflict, Priority
from nous.cli.framework import App, dry_run_option, json_option, scope_option
from nous.cli.lookup import ALL, episode_of
from nous.cli.output import counted, note, render, render_table
from nous.domain.effects import Effects, ExpectEpisode, RecordResummaryAttempt
from nous.domain.episode import Episode, Tier
from nous.domain.errors import BadInput, Misconfigured
from nous.domain.scope import Scope
from nous.jobs.rq.queue import workers_seen
from nous.knowledge.calibration import Calibration, shipped
from nous.knowledge.calibration import calibrate as measure
from nous.knowledge.verdict import CALIBRATED
from nous.pipeline.fact_learner import RULINGS
from nous.runtime.maintenance import outdated


@click.command()
@json_option
@click.pass_obj
def calibrate(app: App, *, as_json: bool) -> None:
    """Measure the merge threshold of the configured embedder.

    It is the cosine from which on one of two merged texts may say more than the other. Set it as dedup.one_sided.
    Without it, only texts of equal content are merged.
    """
    embedder = app.container.memory.embedder
    found = measure(shipped(), embedder.embed, embedder_id=embedder.id)
    render(found, _verdict(found), as_json=as_json)


def _verdict(found: Calibration) -> tuple[str, str]:
    share = f"{found.recall:.0%} of the pairs that say the same merge, and {found.false_merges} of {found.pairs} others"
    if found.one_sided is None:
        return (
            f"{found.embedder_id}: no threshold is safe, so only texts of equal content should be merged. {share}.",
            "Leave dedup.one_sided out of nous.toml.",
        )
    if found.one_sided == CALIBRATED.get(found.embedder_id):
        remedy = "This threshold is built in: there is nothing to set."
    else:
        remedy = f"Set dedup.one_sided = {found.one_sided:.3f} in nous.toml, and restart the workers."
    return f"{found.embedder_id}: two texts may merge from a cosine of {found.one_sided:.3f} on. Then {share}.", remedy


@click.command()
@dry_run_option
@json_option
@click.pass_obj
def reembed(app: App, *, dry_run: bool, as_json: bool) -> None:
    """Queue the facts and episodes that have no vector of the configured embedder.

    Run it after you changed the embedder and restarted the workers, or after the embedder was unavailable. Workers
    compute the vectors and compare the facts by them. Vectors of another embedder are kept.
    """
    container, embedder = app.container, app.container.memory.embedder.id
    rows: list[dict[str, Any]] = []
    for each in container.memory.episodes.scopes():
        facts, episodes = embed_missing(container, each, dry_run=dry_run)
        if not (facts or episodes):
            continue
        counts = {"facts": facts, "episodes": episodes}
        rows.append({"scope": str(each), **counts, "embedder": embedder, "handed_over": not dry_run})
    empty = f"every fact has its vector by {embedder}, and every episode"
    render(rows, map(_queued, rows), as_json=as_json, empty=empty)
    if rows and not dry_run and not workers_seen(container.rq_client, container.job_names):
        note("no worker runs: nous up")


def _queued(row: Mapping[str, Any]) -> str:
    parts = [counted(row[f"{noun}s"], noun) for noun in ("fact", "episode") if row[f"{noun}s"]]
    verb = "queued" if row["handed_over"] else "would be queued"
    return f"{row['scope']}: {' and '.join(parts)} without a vector by {row['embedder']} {verb}"


@click.command()
@click.argument("sessions", nargs=-1, metavar="[SESSION...]")
@scope_option
@click.option("--all", "everything", is_flag=True, help="Regenerate every session of the scope.")
@dry_run_option
@click.pass_obj
def reprocess(app: App, sessions: Sequence[str], *, scope: Scope, everything: bool, dry_run: bool) -> None:
    """Regenerate the episodes of sessions with the configured model.

    The input is what was stored when the episode was first made. Earlier editions stay available: `nous episodes
    --editions`. Episodes that this model and prompt have made already stay as they are. The model is called afresh: its
    earlier answers about these sessions are deleted.
    """
    container = app.container
    container.check_model()
    summarizer = container.context.summarizer
    if summarizer is None:
        raise Misconfigured("no model is configured: set background_model, in the settings or the environment")
    if everything == bool(sessions):
        raise BadInput("name the sessions, or say --all, one of the two: `nous episodes` lists them")
    if sessions:
        named = [episode_of(session, container, scope) for session in sessions]
        subjects = [*(each.id for each in named), RULINGS]
    else:
        named, subjects = container.memory.episodes.recent(scope, ALL), [None]
    for subject in () if dry_run else subjects:  # otherwise even unusable answers would be used again
        container.llm_stores.responses.invalidate(scope, subject)
    rows = [
        {
            "session": each.session_id,
            "made_by": "extractive" if each.tier is Tier.EXTRACTIVE else each.by,
            "now": _regenerate(container, each, by=summarizer.by, dry_run=dry_run),
        }
        for each in named
    ]
    render_table(rows, ("session", "made_by", "now"), as_json=False, empty="there is nothing to regenerate")


def _regenerate(container: Container, episode: Episode, *, by: str, dry_run: bool) -> str:
    if episode.by == by:
        return "as it is: this model and prompt made it"
    if container.memory.episodes.summary_input(episode.scope, episode.id) is None:
        return "as it is: nothing was kept to make it from; publish its session again when it has grown"
    if dry_run:
        return "would be regenerated"
    event = outdated(episode, by=by, reason="reprocess", context=container.context, occasion=str(uuid4()))
    # Otherwise the background resummarizer would offer an extractive episode to the model once more.
    tried = RecordResummaryAttempt(scope=episode.scope, episode_id=episode.id, by=by)
    expected = ExpectEpisode(scope=episode.scope, episode_id=episode.id, state=episode.state)
    writes = (expected, tried) if episode.tier is Tier.EXTRACTIVE else (expected,)
    if isinstance(container.bus.apply(Effects(writes=writes, events=(event,)), priority=Priority.BULK), Conflict):
        return "as it is: it was regenerated, or forgotten, meanwhile"
    return f"will be regenerated by workers that run with {by}"
