"""`nous publish`: hand sessions over, and if asked, wait for what becomes of them."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from nous.bus.base import Lane
from nous.cli.frame import FAILED, App, exit_code
from nous.cli.outcomes import outcomes, troubles
from nous.cli.show import print_json, say, table
from nous.cli.waiting import awaited, has_failed
from nous.errors import BadInput, NotAllowed, NousError
from nous.jobs.rq.census import workers_seen
from nous.producer import Producer, Published
from nous.readable import one_line
from nous.runtime.publish import AT_ONCE, About
from nous.runtime.track import Step
from nous.scope import Scope
from nous.transcript.sniff import UnknownFormat
from nous.wiring import World, build
from nous.wiring.producer import producer_of


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--session", help="The session's id, where the file does not say it, or says another.")
@click.option("--agent", default="default", help="The id of the agent whose session it is.")
@click.option("--format", "format_", help="Read the files as this format instead of telling it from their content.")
@click.option("--compacting", is_flag=True, help="The session goes on; its agent is about to forget the beginning.")
@click.option("--upload", is_flag=True, help="Send what the files say along, for workers on other hosts.")
@click.option("--bulk", is_flag=True, help="Old sessions: they come after those that have just ended.")
@click.option("--again", is_flag=True, help="Let sessions back that were forgotten.")
@click.option("--durable", is_flag=True, help="Wait until the server's disk has each event.")
@click.option("--wait", is_flag=True, help="Wait until each is dealt with; exit 1 if one failed, or was not in time.")
@click.option(
    "--timeout",
    default=600.0,
    type=click.FloatRange(min=0),
    show_default=True,
    help="How long to --wait, in seconds; with 0 it looks once.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def publish(  # noqa: PLR0913 (a command's options are its parameters)
    ctx: click.Context,
    paths: Sequence[str],
    *,
    scope: str,
    session: str | None,
    agent: str,
    format_: str | None,
    compacting: bool,
    upload: bool,
    bulk: bool,
    again: bool,
    durable: bool,
    wait: bool,
    timeout: float,
    as_json: bool,
) -> None:
    """Hand over sessions that have ended, each PATH a file with a transcript in any format that nous reads.

    Publishing a session again adds nothing, unless it has grown. A file that cannot be used is reported and the others
    are published all the same. Workers read them later, so save in one what comes from a pipe.
    """
    app: App = ctx.obj
    if session is not None and len(paths) > 1:
        raise BadInput(f"--session {session} names one session, and {len(paths)} files were given; publish each alone")
    about = About(scope=Scope.parse(scope), agent_id=agent, session_id=session, format=format_, compacting=compacting)
    world = build(app.settings)
    failures: list[NousError] = []
    how = {"upload": upload, "durable": durable, "lane": Lane.BULK if bulk else Lane.LIVE, "again": again}
    handed_over = list(_hand_over(producer_of(world), paths, failures, about=about, **how))
    if handed_over and not _is_anybody_there(world):
        _warn("no worker runs yet; `nous up` or `nous worker` will deal with them")
    steps, told = _waited(world, handed_over, failures, timeout=timeout) if wait else ({}, _told(handed_over))
    if as_json:
        print_json([_row(path, each, steps.get(each.event.id, [])) for path, each in handed_over])
    elif handed_over:
        say(told)
    for trouble in troubles(handed_over, steps, timeout=timeout):
        _warn(trouble)
    ctx.exit(exit_code(failures[0]) if failures else FAILED if has_failed(steps) else 0)


def _waited(
    world: World, handed_over: Sequence[tuple[str, Published]], failures: list[NousError], *, timeout: float
) -> tuple[dict[UUID, list[Step]], str]:
    """The steps of those *handed over*, and a table of what became of each, as far as this user may see that."""
    try:
        steps = awaited(world, [each for _, each in handed_over], timeout=timeout)
        return steps, "\n".join(outcomes(world, handed_over, steps))
    except NotAllowed as error:
        failures.append(NotAllowed(f"what becomes of these cannot be waited for, they are published: {error}"))
        _warn(str(failures[-1]))
        return {}, _told(handed_over)


def _hand_over(
    producer: Producer, paths: Sequence[str], failures: list[NousError], **how: Any
) -> Iterator[tuple[str, Published]]:
    """Publish what can be published; what cannot be is told on stderr and kept in *failures*."""
    for path in paths:
        try:
            if not path:
                raise BadInput("the name of a file is empty")
            if path == "-":
                raise BadInput(f"- is standard input; {AT_ONCE}")
            if Path(path).is_dir():
                folder = shlex.quote(str(Path(path)))
                how_to = f"`nous formats {folder}` says which can be read"
                raise BadInput(f"{path} is a directory; name the files in it, as {folder}/*; {how_to}")
            yield from ((path, published) for published in producer.publish(Path(path), warn=_warn, **how))
        except NousError as error:
            failures.append(error)
            about = "" if path in str(error) else f"{path}: "
            hint = "; `nous formats` lists what it can" if isinstance(error, UnknownFormat) else ""
            say(one_line(f"nous: {about}{error}{hint}"), err=True)


def _is_anybody_there(world: World) -> bool:
    """Whether a worker runs; who may only publish is not told, and supposes so."""
    try:
        return bool(workers_seen(world.rq_client, world.job_names))
    except NotAllowed:
        return True


def _warn(what: str) -> None:
    say(one_line(f"nous: {what}"), err=True)


def _told(handed_over: Sequence[tuple[str, Published]]) -> str:
    cells = ((each.event.session_id, _when(each), path) for path, each in handed_over)
    return table(("session", "published", "file"), cells)


def _row(path: str, each: Published, steps: Sequence[Step]) -> dict[str, Any]:
    return {
        "path": path,
        "session": each.event.session_id,
        "event": str(each.event.id),
        "published": _when(each),
        "steps": [{"worker": s.worker, "where": s.location.where, "why": s.location.reason} for s in steps],
    }


def _when(published: Published) -> str:
    return "now" if published.receipt.fresh else "before"
