"""`nous decide`: keep what was decided in a session that still runs."""

from uuid import UUID

import click

from nous.cli.frame import App
from nous.cli.knowing import checked_session, goes_by, session_of, sessions_of, with_episode
from nous.cli.show import say
from nous.episode import Decision
from nous.errors import BadInput, NotAllowed
from nous.events import episode_id
from nous.readable import one_line
from nous.scope import Scope
from nous.wiring import World, build
from nous.wiring.producer import producer_of


@click.command()
@click.argument("session")
@click.argument("description")
@click.option("--category", default="decision", show_default=True, help="What kind of decision it is.")
@click.option("--stakes", default="unstated", show_default=True, help="What depends on it, such as low or high.")
@click.option("--confidence", default=1.0, type=click.FloatRange(0, 1), show_default=True, help="How sure it is.")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--agent", default="default", help="The id of the agent whose session it is.")
@click.pass_obj
def decide(
    app: App, session: str, description: str, *, category: str, stakes: str, confidence: float, scope: str, agent: str
) -> None:
    """Keep what was decided in SESSION with the episode that it will become. Saying it again adds nothing.

    SESSION is its id, or the beginning of one that is a UUID. Where nothing is known of such a session yet, it is taken
    for the whole id: what was decided waits for a session of exactly that id.
    """
    description, category, stakes = map(one_line, (description, category, stakes))
    if not description.strip():
        raise BadInput("a decision needs a description")
    decision = Decision(description=description, category=category, stakes=stakes, confidence=confidence)
    world, within = build(app.settings), Scope.parse(scope)
    name = _meant(checked_session(session), world, within)
    receipt = producer_of(world).record(decision, session_id=name, scope=within, agent_id=agent)
    say("noted" if receipt.fresh else "was noted before")
    try:
        told = _told(name, world, within, scope)
    except NotAllowed:
        told = (
            f"it stands with the episode of a session of exactly the id {name!r}; this user may not see if there is one"
        )
    say(one_line(f"nous: {told}"), err=True)


def _meant(session: str, world: World, scope: Scope) -> str:
    """The id of the session that goes by *session*, or that itself where there is none yet. Raises as `session_of`.

    Only random ids are taken by their beginning: `run-1` is no short form of `run-10`, and may be yet to come. One
    that is known is known in capitals too.
    """
    try:
        if world.kit.episodes.get(scope, episode_id(scope, session)):
            return session
        known = sessions_of(world, scope)
    except NotAllowed:  # who may only publish says all of the id
        return session
    if session in known:
        return session
    if (small := session.lower()) in known and _is_random(small):
        return small
    random = [each for each in known if each.startswith(session) and _is_random(each)]
    return session_of(session, world, scope, among=random) if random else session


def _is_random(session: str) -> bool:
    try:
        return str(UUID(session)) == session
    except ValueError:
        return False


def _told(session: str, world: World, within: Scope, scope: str) -> str:
    """When what was decided in *session* can be seen."""
    if world.kit.episodes.get(within, episode_id(within, session)):
        anew = ", or by `nous reprocess`" if world.settings.background_model else ""
        return (
            f"{session} has an episode already; what was decided stands with the next one, which is made when "
            f"the session has grown and is published again{anew}"
        )
    return (
        f"there is no episode of a session {session!r} in {scope} yet; what was decided stands with it once a "
        f"session of exactly that id is published{with_episode(session, world, is_meant=_may_mean)}"
    )


def _may_mean(name: str, session: str) -> bool:
    return session == name or (_is_random(session) and goes_by(name, session))
