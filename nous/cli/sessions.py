"""`nous sessions`, `nous heartbeat` and `nous record-decision`: state of running sessions."""

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import click

from nous.app.container import Container, build
from nous.app.services import producer_of
from nous.app.worker_process import session_recovery
from nous.cli.framework import App
from nous.cli.lookup import ALL, checked_session, goes_by, session_of, sessions_of, with_episode
from nous.cli.output import counted, print_json, say, table
from nous.domain.episode import Decision
from nous.domain.errors import BadInput, Misconfigured, NotAllowed
from nous.domain.events import episode_id
from nous.domain.scope import Scope
from nous.domain.session_state import UNFINISHED, SessionState
from nous.services.session_intake import SessionMetadata
from nous.services.session_lifecycle import RecoveryAction
from nous.text.sanitize import one_line

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(invoke_without_command=True)
@click.option("--scope", help="Only this scope: project, agent/project or tenant/agent/project. Default: all.")
@_JSON
@click.pass_context
def sessions(ctx: click.Context, *, scope: str | None, as_json: bool) -> None:
    """List open, closing and abandoned sessions, with their last activity and transcript.

    Open sessions were active since they last ended. Closing sessions were idle, and a worker has yet to process their
    end. Abandoned sessions cannot be finished as things are, for the reason shown.
    """
    if ctx.invoked_subcommand is not None:
        return
    app: App = ctx.obj
    container, within = build(app.settings), Scope.parse(scope) if scope else None
    found = list(_listed(container, within))
    if as_json:
        print_json([_row(session_state) for session_state in found])
    elif found:
        heads = ("state", "last active", "scope", "session", "transcript", "why")
        say(table(heads, map(_cells, found)))
    else:
        say("no session is open, closing or abandoned")


@sessions.command()
@_JSON
@click.pass_obj
def recover(app: App, *, as_json: bool) -> None:
    """Find unfinished sessions and finish them; mark those that cannot be as abandoned.

    Idle sessions are ended. If an end is dead because its transcript could not be read, it is retried once the
    transcript can be read from here. Workers do the same periodically. You can run this again at any time.
    """
    container = build(app.settings)
    recovery = session_recovery(container)
    # Recover first: workers may finish at once what `close` ends, and the outcome of that is for the next run.
    actions = [*recovery.recover(), *recovery.close()]
    if as_json:
        print_json([{"session": each.session_id, "scope": str(each.scope), "what": each.what} for each in actions])
    else:
        say(_actions_table(actions))


def _actions_table(actions: Iterable[RecoveryAction]) -> str:
    actions = list(actions)
    if not actions:
        return "there is nothing to recover"
    rows = ((each.session_id, str(each.scope), each.what) for each in actions)
    return f"{table(('session', 'scope', 'what was done'), rows)}\n\n{counted(len(actions), 'session')}"


def _listed(container: Container, scope: Scope | None) -> Iterator[SessionState]:
    for status in UNFINISHED:
        for where, session in container.memory.session_states.sessions(status, limit=ALL):
            if scope is None or where == scope:
                yield from _session_state(container, where, session)


def _session_state(container: Container, scope: Scope, session: str) -> Iterator[SessionState]:
    """Yield the session's state unless it is gone meanwhile; report one that cannot be read."""
    try:
        if session_state := container.memory.session_states.session_state(scope, session):
            yield session_state
    except Misconfigured as error:
        say(f"nous: session {session} of {scope}: {error}", err=True)


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


def _cells(session_state: SessionState) -> tuple[str, ...]:
    active = f"{session_state.touched.at:%Y-%m-%d %H:%M:%S}" if session_state.touched else "-"
    dataref = unquote(session_state.named.dataref.removeprefix("file://")) if session_state.named else "-"
    why = session_state.given_up.reason if session_state.given_up else ""
    return session_state.status, active, str(session_state.scope), session_state.session_id, dataref, why


@click.command()
@click.argument("session", metavar="PATH|SESSION")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--session", "session_id", help="Id of the session in PATH. The file is then not read.")
@click.option("--agent", default="default", help="The id of the agent whose session it is.")
@click.option("--format", "format_", help="Read the file as this format instead of detecting it.")
@click.option("--background", is_flag=True, help="A turn that no user asked for. It does not count as activity.")
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
    """Send a heartbeat for a session. After `sessions.idle` without one, it ends.

    Then it is summarized. PATH is its transcript. If there is no such file, it is a SESSION with this full id. If you
    only give the id, you have to publish the session too: nous does not know where its transcript is.
    """
    about = SessionMetadata(scope=Scope.parse(scope), agent_id=agent, session_id=session_id, format=format_)
    touched = producer_of(build(app.settings)).touch(session, about, background=background)
    if as_json:
        result: dict[str, Any] = {
            "session": touched.event.session_id,
            "event": str(touched.event.id),
            "published": "now" if touched.receipt.fresh else "before",
        }
        print_json(result)
    else:
        say(one_line(f"touched {touched.event.session_id}"))


@click.command()
@click.argument("session")
@click.argument("description")
@click.option("--category", default="decision", show_default=True, help="Kind of decision.")
@click.option("--stakes", default="unstated", show_default=True, help="What depends on it, such as low or high.")
@click.option("--confidence", default=1.0, type=click.FloatRange(0, 1), show_default=True, help="How sure it is.")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--agent", default="default", help="The id of the agent whose session it is.")
@click.pass_obj
def decide(
    app: App, session: str, description: str, *, category: str, stakes: str, confidence: float, scope: str, agent: str
) -> None:
    """Record a decision made in SESSION, for the episode that it will become.

    Recording it again adds nothing. SESSION is an id, or a prefix of one that is a UUID. If no such session is known
    yet, it is taken as the full id: the decision waits for a session with exactly that id.
    """
    description, category, stakes = map(one_line, (description, category, stakes))
    if not description.strip():
        raise BadInput("a decision needs a description")
    decision = Decision(description=description, category=category, stakes=stakes, confidence=confidence)
    container, within = build(app.settings), Scope.parse(scope)
    name = _meant(checked_session(session), container, within)
    receipt = producer_of(container).record(decision, session_id=name, scope=within, agent_id=agent)
    say("noted" if receipt.fresh else "was noted before")
    try:
        note = _when_visible(name, container, within, scope)
    except NotAllowed:
        note = (
            f"it stands with the episode of a session of exactly the id {name!r}; this user may not see if there is one"
        )
    say(one_line(f"nous: {note}"), err=True)


def _meant(session: str, container: Container, scope: Scope) -> str:
    """Return the id of the session that *session* names, or *session* if none is known yet.

    Only random ids can be given as a prefix: `run-1` is no short form of `run-10`, which may be yet to come. A known
    random id is also found in capitals. Raises as `session_of` does.
    """
    try:
        if container.memory.episodes.get(scope, episode_id(scope, session)):
            return session
        known = sessions_of(container, scope)
    except NotAllowed:  # a user who may only publish gives the full id
        return session
    if session in known:
        return session
    if (small := session.lower()) in known and _is_random(small):
        return small
    random = [each for each in known if each.startswith(session) and _is_random(each)]
    return session_of(session, container, scope, among=random) if random else session


def _is_random(session: str) -> bool:
    try:
        return str(UUID(session)) == session
    except ValueError:
        return False


def _when_visible(session: str, container: Container, within: Scope, scope: str) -> str:
    """Describe when a decision recorded in *session* becomes visible."""
    if container.memory.episodes.get(within, episode_id(within, session)):
        anew = ", or by `nous dev reprocess`" if container.settings.background_model else ""
        return (
            f"{session} has an episode already; what was decided stands with the next one, which is made when "
            f"the session has grown and is published again{anew}"
        )
    return (
        f"there is no episode of a session {session!r} in {scope} yet; what was decided stands with it once a "
        f"session of exactly that id is published{with_episode(session, container, is_meant=_may_mean)}"
    )


def _may_mean(name: str, session: str) -> bool:
    return session == name or (_is_random(session) and goes_by(name, session))
