"""List open sessions, send heartbeats, record decisions."""

from typing import Any

import click

from nous.app.services import producer_of
from nous.cli.framework import (
    App,
    agent_option,
    any_scope_option,
    format_option,
    json_option,
    scope_option,
    session_scope_option,
)
from nous.cli.lookup import ALL
from nous.cli.output import note, path_of, render, render_table, say
from nous.domain.episode import Decision
from nous.domain.scope import Scope
from nous.domain.session_state import UNFINISHED, SessionState
from nous.services.session_intake import SessionMetadata
from nous.services.workspace import working_directory
from nous.text.sanitize import one_line


@click.command()
@any_scope_option
@json_option
@click.pass_obj
def sessions(app: App, *, scope: Scope | None, as_json: bool) -> None:
    """List open, closing and abandoned sessions, with their last activity and transcript.

    Open sessions were active since they last ended. Closing sessions were idle, and a worker has yet to process their
    end. Abandoned sessions cannot be finished as things are, for the reason shown.
    """
    states = app.container.memory.session_states
    places = [place for status in UNFINISHED for place in states.sessions(status, limit=ALL)]
    found = (states.session_state(*place) for place in places if scope in {None, place[0]})
    rows = [_row(each) for each in found if each]
    if not as_json:
        rows = [{**row, "state": row["stage"], "transcript": path_of(row["dataref"] or "")} for row in rows]
    columns = ("state", "last_active", "scope", "session", "transcript", "why")
    render_table(rows, columns, as_json=as_json, empty="no session is open, closing or abandoned")


def _row(session_state: SessionState) -> dict[str, Any]:
    return {
        "session": session_state.session_id,
        "scope": str(session_state.scope),
        "stage": session_state.status,
        "last_active": session_state.touched.at if session_state.touched else None,
        "agent": session_state.touched.agent_id if session_state.touched else None,
        "dataref": session_state.named.dataref if session_state.named else None,
        "why": session_state.given_up.reason if session_state.given_up else None,
        "since": session_state.since,
    }


@click.command()
@click.argument("session", metavar="PATH|SESSION")
@session_scope_option
@click.option("--session", "session_id", help="Id of the session in PATH. With --scope, the file is not read then.")
@agent_option
@format_option
@click.option("--background", is_flag=True, help="A turn that no user asked for. It does not count as activity.")
@json_option
@click.pass_obj
def touch(
    app: App, session: str, *, scope: Scope | None, agent: str, background: bool, as_json: bool, **more: Any
) -> None:
    """Send a heartbeat for a session. After `sessions.idle` without one, it ends.

    Then it is summarized. PATH is its transcript. If there is no such file, it is a SESSION with this full id. If you
    only give the id, you have to publish the session too: nous does not know where its transcript is.
    """
    session_id, form = more["session_id"], more["format_"]
    about = SessionMetadata(scope=scope, agent_id=agent, session_id=session_id, cwd=working_directory(), format=form)
    touched = producer_of(app.container).touch(session, about, background=background)
    name, published = touched.event.session_id, "now" if touched.receipt.fresh else "before"
    result = {"session": name, "event": touched.event.id, "published": published}
    render(result, [one_line(f"heartbeat recorded: {name}")], as_json=as_json)


@click.command()
@click.argument("session")
@click.argument("description")
@click.option("--category", default="decision", show_default=True, help="Kind of decision.")
@click.option("--stakes", default="unstated", show_default=True, help="What depends on it, such as low or high.")
@click.option("--confidence", default=1.0, type=click.FloatRange(0, 1), show_default=True, help="How sure it is.")
@scope_option
@agent_option
@click.pass_obj
def decide(app: App, session: str, description: str, *, scope: Scope, agent: str, **more: Any) -> None:
    """Record a decision made in SESSION, for the episode that it will become.

    Recording it again adds nothing. SESSION is the full id: the session may be yet to come.
    """
    category, stakes, description = one_line(more["category"]), one_line(more["stakes"]), one_line(description)
    decision = Decision(description=description, category=category, stakes=stakes, confidence=more["confidence"])
    receipt = producer_of(app.container).record(decision, session_id=session, scope=scope, agent_id=agent)
    say("recorded" if receipt.fresh else "was recorded before")
    note(f"the next episode of session {session!r} in {scope} shows it")
