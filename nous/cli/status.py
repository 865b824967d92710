"""`nous status`: the whole system, or one session."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import click

from nous.bus.base import Grave
from nous.bus.ledger import Account
from nous.cli.frame import FAILED, App
from nous.cli.knowing import checked_session, elsewhere, session_of, with_session
from nous.cli.model import model_report, model_sections
from nous.cli.show import in_words, print_json, say, table
from nous.course import Stage
from nous.errors import NotFound
from nous.events import DecisionRecorded, EpisodeOutdated, Event, SessionCompacting, SessionEnded
from nous.jobs.rq.census import QueueCount, queues_of, workers_seen
from nous.runtime.track import Step, follow
from nous.scope import Scope
from nous.server.check import write_trouble
from nous.wiring import World, build

_ABOUT = (SessionEnded, SessionCompacting, DecisionRecorded, EpisodeOutdated)
"""Kinds of events that somebody may ask after by the session they are about."""

_HOW_TO_LOOK = "`nous status SESSION` says where a session is, `nous dead list` what was set aside"

_FEW = 100
"""Letters that are looked at first, of which some are mostly dead: then there is no need to read the others."""

_COLUMNS = ("received", "done", "skipped", "dead", "erased", "parked", "in_flight")


@click.command()
@click.argument("session", required=False)
@click.option("--scope", default="default", help="The session's scope: project, agent/project or tenant/agent/project.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def status(ctx: click.Context, session: str | None, scope: str, *, as_json: bool) -> None:
    """Show streams, queues, workers and the accounts; or, of one SESSION, where it is and why.

    SESSION is its id, or the beginning of it.

    The accounts add up at every moment: received = done + skipped + dead + erased + parked + in flight. Workers are
    shown that live, as far as can be told from here.
    """
    app: App = ctx.obj
    world = build(app.settings)
    if session is not None:
        name, steps = _steps_of(world, session, Scope.parse(scope))
        _print_steps(name, steps, as_json=as_json)
        failed = any(step.has_failed for step in steps)
    else:
        report = _report(world)
        if as_json:
            print_json(report)
        else:
            say("\n\n".join(_sections(report)))
        failed = any(row["balance"] for row in report["groups"].values()) or _is_something_dead(world)
    ctx.exit(FAILED if failed else 0)


def _is_something_dead(world: World) -> bool:
    few = world.dead.letters(limit=_FEW)
    if any(letter.grave is Grave.DEAD for letter in few):
        return True
    return len(few) == _FEW and any(letter.grave is Grave.DEAD for letter in world.dead.letters())


def _report(world: World) -> dict[str, Any]:
    accounts = {each.group: world.ledger.account(each) for each in world.subscriptions}
    return {
        "groups": {name: _row(account) for name, account in accounts.items()},
        "total": _sum(map(_row, accounts.values())),
        "balance": sum(abs(account.balance) for account in accounts.values()),
        "streams": [
            {"group": each.group, "type": each.kind.type, **asdict(backlog)}
            for each in world.subscriptions
            for backlog in world.ledger.backlogs(each)
        ],
        "queues": [asdict(queue) for queue in _queues(world)],
        "workers": [asdict(each) for each in workers_seen(world.rq_client, world.job_names)],
        "model": model_report(world),
        "cannot_write": write_trouble(world.client),
    }


def _queues(world: World) -> Iterator[QueueCount]:
    for name in world.workers:
        yield from queues_of(world.job_names.own(name), world.rq_client)


def _row(account: Account) -> dict[str, Any]:
    counts = {name: getattr(account, name) for name in _COLUMNS}
    skipped = {"skipped": sum(account.skipped.values()), "skipped_reasons": account.skipped}
    return {**counts, **skipped, "balance": account.balance, "why": account.why}


def _sum(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    rows = list(rows)
    return {name: sum(row[name] for row in rows) for name in _COLUMNS}


def _sections(report: dict[str, Any]) -> Iterator[str]:
    groups = {**report["groups"], "total": report["total"]}
    yield table(("worker", *_COLUMNS), ((name, *(str(row[each]) for each in _COLUMNS)) for name, row in groups.items()))
    reasons = [
        (name, str(count), in_words(reason))
        for name, row in report["groups"].items()
        for reason, count in row["skipped_reasons"].items()
    ]
    if reasons:
        yield table(("worker", "skipped", "because"), reasons)
    streams = (
        (each["type"], each["lane"], str(each["length"]), _known(each["waiting"]), str(each["pending"]), each["group"])
        for each in report["streams"]
    )
    yield table(("stream", "lane", "length", "waiting", "pending", "for"), streams)
    counts = ("queued", "started", "finished", "failed")
    queues = ((*(str(queue[each]) for each in counts), queue["name"]) for queue in report["queues"])
    yield table((*counts, "queue"), queues)
    workers = ((each["state"], str(each["pid"]), ",".join(each["queues"]), each["name"]) for each in report["workers"])
    trouble = report["cannot_write"]
    # What cannot be written cannot be renewed either, and workers whose entries run out may be there all the same.
    nobody = "no worker has been heard of" if trouble else "no worker runs: nous up"
    yield table(("state", "pid", "queues", "process"), workers) if report["workers"] else nobody
    yield from model_sections(report["model"])
    if trouble:
        yield f"the server cannot write, so nothing goes on until it can: {trouble}"
    for name, row in report["groups"].items():
        if row["balance"]:
            yield f"DEFECT: the account of {name} does not add up: {row['why']}; {_HOW_TO_LOOK}"


def _known(waiting: int | None) -> str:
    return "unknown" if waiting is None else str(waiting)


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
