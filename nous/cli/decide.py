"""`nous decide`: keep what was decided in a session that still runs."""

import click

from nous.cli.frame import App
from nous.cli.show import say
from nous.episode import Decision
from nous.errors import BadInput
from nous.events import episode_id
from nous.producer import producer_of
from nous.readable import one_line
from nous.scope import Scope
from nous.wiring import build


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
    """Keep what was decided in SESSION with the episode that it will become. Saying it again adds nothing."""
    description, category, stakes = map(one_line, (description, category, stakes))
    if not description.strip():
        raise BadInput("a decision needs a description")
    decision = Decision(description=description, category=category, stakes=stakes, confidence=confidence)
    world, within = build(app.settings), Scope.parse(scope)
    receipt = producer_of(world).record(decision, session_id=session, scope=within, agent_id=agent)
    say("noted" if receipt.fresh else "was noted before")
    if world.kit.episodes.get(within, episode_id(within, session)):
        note = (
            f"{session} has an episode already; what was decided stands with the next one, which is made when "
            "the session has grown and is published again, or by `nous reprocess`"
        )
    else:
        note = (
            f"there is no episode of a session {session!r} in {scope} yet; what was decided stands with it once a "
            "session of that id is published"
        )
    say(f"nous: {note}", err=True)
