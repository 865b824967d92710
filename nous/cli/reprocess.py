"""`nous reprocess`: have episodes made anew by the model and the prompt that are configured now."""

from collections.abc import Iterator, Sequence
from uuid import UUID, uuid4

import click

from nous.bus.base import Lane, Refused
from nous.cli.frame import App
from nous.cli.knowing import ALL, episode_of
from nous.cli.show import say, table
from nous.effects import Effects, ExpectEpisode, NoteTried
from nous.episode import Episode, Tier
from nous.errors import BadInput, Misconfigured
from nous.learner import RULINGS
from nous.runtime.upgrade import outdated
from nous.scope import Scope
from nous.wiring import World, build


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
