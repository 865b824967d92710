"""`nous sessions`: those that run, and those that nobody could finish yet."""

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

import click

from nous.cli.frame import App
from nous.cli.knowing import ALL
from nous.cli.show import counted, print_json, say, table
from nous.course import UNFINISHED, Course
from nous.errors import Misconfigured
from nous.runtime.finishing import Deed
from nous.scope import Scope
from nous.wiring import World, build, finisher

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(invoke_without_command=True)
@click.option("--scope", help="Of one scope: project, agent/project or tenant/agent/project; by default of all.")
@_JSON
@click.pass_context
def sessions(ctx: click.Context, *, scope: str | None, as_json: bool) -> None:
    """List sessions that are open, that are closing, or that were abandoned, with their last activity and transcript.

    Open are those that were touched since they ended last. Closing are those that were idle, until a worker has dealt
    with their end. Abandoned are those that nobody can finish as things are, for the reason given.
    """
    if ctx.invoked_subcommand is not None:
        return
    app: App = ctx.obj
    world, within = build(app.settings), Scope.parse(scope) if scope else None
    found = list(_listed(world, within))
    if as_json:
        print_json([_row(course) for course in found])
    elif found:
        heads = ("stage", "last active", "scope", "session", "transcript", "why")
        say(table(heads, map(_cells, found)))
    else:
        say("no session is open, closing or abandoned")


@sessions.command()
@_JSON
@click.pass_obj
def recover(app: App, *, as_json: bool) -> None:
    """Find sessions that were left lying and finish them; those that nobody can finish are marked as abandoned.

    Idle ones are ended. Ends that are dead because their transcript could not be read are tried again if it can be read
    now, from here. Workers do the same by and by; run it again whenever you like.
    """
    world = build(app.settings)
    finish = finisher(world)
    # Workers may be at once through with what is ended here, and what came of it is for the next time.
    deeds = [*finish.recover(), *finish.close()]
    if as_json:
        print_json([{"session": each.session_id, "scope": str(each.scope), "what": each.what} for each in deeds])
    else:
        say(_told(deeds))


def _told(deeds: Iterable[Deed]) -> str:
    deeds = list(deeds)
    if not deeds:
        return "nothing was left lying"
    rows = ((each.session_id, str(each.scope), each.what) for each in deeds)
    return f"{table(('session', 'scope', 'what was done'), rows)}\n\n{counted(len(deeds), 'session')}"


def _listed(world: World, scope: Scope | None) -> Iterator[Course]:
    for stage in UNFINISHED:
        for where, session in world.kit.courses.sessions(stage, limit=ALL):
            if scope is None or where == scope:
                yield from _course(world, where, session)


def _course(world: World, scope: Scope, session: str) -> Iterator[Course]:
    """The session, unless it is gone meanwhile; one that cannot be read is told of, and the others are listed."""
    try:
        if course := world.kit.courses.course(scope, session):
            yield course
    except Misconfigured as error:
        say(f"nous: session {session} of {scope}: {error}", err=True)


def _row(course: Course) -> dict[str, Any]:
    return {
        "session": course.session_id,
        "scope": str(course.scope),
        "stage": course.stage,
        "last_active": course.touched.at if course.touched else None,
        "agent": course.touched.agent_id if course.touched else None,
        "dataref": course.named.dataref if course.named else None,
        "why": course.given_up.reason if course.given_up else None,
        "since": course.since,
    }


def _cells(course: Course) -> tuple[str, ...]:
    active = f"{course.touched.at:%Y-%m-%d %H:%M:%S}" if course.touched else "-"
    dataref = unquote(course.named.dataref.removeprefix("file://")) if course.named else "-"
    why = course.given_up.reason if course.given_up else ""
    return course.stage, active, str(course.scope), course.session_id, dataref, why
