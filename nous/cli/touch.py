"""`nous touch`: say that a session has moved on."""

from typing import Any

import click

from nous.cli.frame import App
from nous.cli.show import print_json, say
from nous.readable import one_line
from nous.runtime.publish import About
from nous.scope import Scope
from nous.wiring import build
from nous.wiring.producer import producer_of


@click.command()
@click.argument("session", metavar="PATH|SESSION")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--session", "session_id", help="The id of the session in PATH, which is then not read.")
@click.option("--agent", default="default", help="The id of the agent whose session it is.")
@click.option("--format", "format_", help="Read the file as this format instead of telling it from its content.")
@click.option("--background", is_flag=True, help="A turn that nobody asked for: the session is not active for it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def touch(
    app: App,
    session: str,
    *,
    scope: str,
    session_id: str | None,
    agent: str,
    format_: str | None,
    background: bool,
    as_json: bool,
) -> None:
    """Say that a session has moved on: it is ended, and summarized, once nothing was said of it for `sessions.idle`.

    PATH is its transcript; SESSION, where no file is called so, all of its id. Whoever touches a session only by its id
    has to publish it too: nobody else knows where its transcript is.
    """
    about = About(scope=Scope.parse(scope), agent_id=agent, session_id=session_id, format=format_)
    touched = producer_of(build(app.settings)).touch(session, about, background=background)
    if as_json:
        told: dict[str, Any] = {
            "session": touched.event.session_id,
            "event": str(touched.event.id),
            "published": "now" if touched.receipt.fresh else "before",
        }
        print_json(told)
    else:
        say(one_line(f"touched {touched.event.session_id}"))
