"""`nous sessions`: those that run, and those that nobody could finish yet."""

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import click

from nous.app import World, build, finisher
from nous.app.services import producer_of
from nous.cli.framework import App
from nous.cli.lookup import ALL, checked_session, goes_by, session_of, sessions_of, with_episode
from nous.cli.output import counted, print_json, say, table
from nous.domain.episode import Decision
from nous.domain.errors import BadInput, Misconfigured, NotAllowed
from nous.domain.events import episode_id
from nous.domain.scope import Scope
from nous.domain.session_state import UNFINISHED, Course
from nous.services.session_intake import About
from nous.services.session_lifecycle import Deed
from nous.text.sanitize import one_line

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
        told = _session_id_of(name, world, within, scope)
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


def _session_id_of(session: str, world: World, within: Scope, scope: str) -> str:
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
