"""`nous status`: the whole system, or one session."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import click
from click.core import ParameterSource

from nous.cli.frame import FAILED, App
from nous.cli.knowing import checked_session, elsewhere, session_of, with_session
from nous.cli.overview import report_of, sections
from nous.cli.show import in_words, print_json, say, table
from nous.course import Stage
from nous.errors import BadInput, NotFound
from nous.events import DecisionRecorded, EpisodeOutdated, Event, SessionCompacting, SessionEnded
from nous.runtime.track import Step, follow
from nous.scope import Scope
from nous.wiring import World, build

_ABOUT = (SessionEnded, SessionCompacting, DecisionRecorded, EpisodeOutdated)
"""Kinds of events that somebody may ask after by the session they are about."""


@click.command()
@click.argument("session", required=False)
@click.option("--scope", default="default", help="The session's scope: project, agent/project or tenant/agent/project.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def status(ctx: click.Context, session: str | None, scope: str, *, as_json: bool) -> None:
    """Show streams, queues, workers and the accounts, and what is wrong; or, of one SESSION, where it is and why.

    SESSION is its id, or the beginning of it.

    The accounts add up at every moment: received = done + skipped + dead + erased + parked + in flight. Workers are
    shown that live, as far as can be told from here.
    """
    app: App = ctx.obj
    if session is None and ctx.get_parameter_source("scope") is ParameterSource.COMMANDLINE:
        raise BadInput("--scope is of a SESSION: without one, all there is on the server is shown")
    world = build(app.settings)
    if session is not None:
        name, steps = _steps_of(world, session, Scope.parse(scope))
        _print_steps(name, steps, as_json=as_json)
        failed = any(step.has_failed for step in steps)
    else:
        report = report_of(world)
        if as_json:
            print_json(report)
        else:
            say("\n\n".join(sections(report)))
        failed = report["dead"] or any(row["balance"] for row in report["groups"].values())
    ctx.exit(FAILED if failed else 0)


def _steps_of(world: World, name: str, scope: Scope) -> tuple[str, list[Step]]:
    """The session that *name* is the id of, or else the beginning of its id, and where it is."""
    session, events = name, _events_of(world, scope, checked_session(name))
    if not events:
        session = session_of(name, world, scope)
        events = _events_of(world, scope, session)
    if not events and (course := world.kit.courses.course(scope, session)) and course.stage is not Stage.ENDED:
        raise NotFound(
            f"session {session!r} has not been published yet; it is {course.stage}: `nous sessions` shows it"
        )
    if not events:
        where = with_session(name, world, partial(_events_of, world)) or elsewhere(world, scope)
        raise NotFound(f"no session {session!r} was published in the scope {scope}{where}")
    return session, [
        step for kind, event_id in events for step in follow(event_id, kind, workers=world.workers, ledger=world.ledger)
    ]


def _events_of(world: World, scope: Scope, session: str) -> list[tuple[type[Event], UUID]]:
    return [(kind, event_id) for kind in _ABOUT for event_id in world.ledger.events_of(session, scope, kind)]


def _print_steps(session: str, steps: Iterable[Step], *, as_json: bool) -> None:
    if as_json:
        print_json({"session": session, "steps": [_as_object(step) for step in steps]})
        return
    say(f"session {session}")
    found = ((step, step.location) for step in steps)
    cells = ((step.worker, at.where, _time(at.next_try), str(step.event_id), in_words(at.reason)) for step, at in found)
    say(table(("worker", "where", "next try", "event", "why"), cells))


def _as_object(step: Step) -> dict[str, Any]:
    found = step.location
    return {
        "worker": step.worker,
        "event": str(step.event_id),
        "where": found.where,
        "next_try": found.next_try,
        "why": found.reason,
    }


def _time(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC" if time else "-"
