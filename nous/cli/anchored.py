"""`nous anchored`: what carries a session across compactions and resumes."""

from dataclasses import asdict

import click

from nous.cli.frame import App
from nous.cli.knowing import checked_session, elsewhere, session_of, with_session
from nous.cli.show import print_json, say
from nous.errors import NotFound
from nous.events import episode_id
from nous.readable import shortened
from nous.scope import Scope
from nous.summary.anchored.anchor import Anchor
from nous.wiring import build


@click.command()
@click.argument("session")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--agent", default="default", help="The id of the agent whose session it is.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with what it was made from.")
@click.pass_obj
def anchored(app: App, session: str, *, scope: str, agent: str, as_json: bool) -> None:
    """Print the anchored summary of SESSION, as a model would read it, and what was recorded as decided in it.

    SESSION is its id, or the beginning of it. There is one once the session has been published as compacting: nous
    publish PATH --compacting.
    """
    checked_session(session)
    checked_session(agent, "the id of an agent")
    world, within = build(app.settings), Scope.parse(scope)
    kit = world.kit

    def anchor_of(where: Scope, name: str) -> Anchor | None:
        return kit.anchors.anchor(where, agent_id=agent, session_id=name)

    found = anchor_of(within, session)
    if found is None:
        session = session_of(session, world, within)
        found = anchor_of(within, session)
    if found is None:
        raise NotFound(
            f"session {session!r} of agent {agent!r} in {scope} has no anchored summary; it gets one from workers once "
            f"it is published as it compacts: nous publish PATH --session {session} --compacting"
            f"{with_session(session, world, anchor_of) or elsewhere(world, within)}"
        )
    decisions = kit.decisions.get_episode_decisions(episode_id(within, session), scope=within)
    if as_json:
        print_json({**asdict(found), "decisions": [asdict(each) for each in decisions]})
        return
    say(found.summary.to_prompt_text())
    if decisions:
        say("\n" + "\n".join(f"decided: {shortened(each.description, 140)}" for each in decisions))
    say(f"\n{_made(found)}", err=True)


def _made(anchor: Anchor) -> str:
    by = anchor.model or "the session's own words"
    why = f" ({shortened(anchor.made_do, 120)})" if anchor.made_do else ""
    made = f"iteration {anchor.summary.iteration}, of {anchor.entries} entries, by {by}{why}"
    return f"nous: session {anchor.session_id}, {made}"
