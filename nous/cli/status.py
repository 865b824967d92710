"""`nous status`: the whole system, or one session."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import click
from click.core import ParameterSource

from nous.app import World, build
from nous.app.worker_process import SESSION_KEEPER
from nous.bus.accounting import Account
from nous.bus.base import Grave
from nous.cli.framework import FAILED, App
from nous.cli.lookup import checked_session, elsewhere, session_of, with_session
from nous.cli.output import FAILURES, counted, in_words, print_json, say, table
from nous.domain.errors import BadInput, NotFound
from nous.domain.events import DecisionRecorded, EpisodeOutdated, Event, SessionCompacting, SessionEnded
from nous.domain.scope import Scope
from nous.domain.session_state import Stage
from nous.jobs.rq.worker_stats import QueueCount, queues_of, workers_seen
from nous.llm.base import Failure
from nous.redis_server.safety_check import write_trouble
from nous.services.session_lifecycle import Step, follow

_COUNTS = ("calls", "answered", "remembered", "asked_again", "without_schema", "tokens_in", "tokens_out")
_OFF = ("title", "summary", "rationale")
_HEADS = {
    "timeout": "timed out",
    "transport": "not reached",
    "quota": "had enough",
    "parse": "unusable",
    "other": "refused",
    "asked_again": "asked again",
    "without_schema": "without schema",
    "tokens_in": "tokens in",
    "tokens_out": "tokens out",
}


def model_report(world: World) -> dict[str, Any]:
    """What is written down of the model, as `nous status --json` shows it.

    A call fails with timeout, transport, quota or other; parse counts answers that could not be used, not calls.
    `off_*` count titles, summaries and rationales that are not of the size that was asked for.
    """
    books, today = world.model_books, datetime.now(UTC).date()
    author = world.kit.author
    return {
        "configured": world.settings.background_model,
        "problem": str(world.mind.problem) if world.mind.problem else None,
        "prompt": author.prompt.version if author else None,
        "calls": {name: _call_counts(counts) for name, counts in books.tally.counts().items()},
        "out": {
            name: {"since": pause.since, "until": pause.until, "failure": pause.failure, "failures": pause.failures}
            for name, pause in books.outages.current().items()
        },
        "tokens_today": [
            {"scope": str(each.scope), "spent": each.spent, "reserved": each.reserved}
            for each in books.allowance.spending(today)
        ],
        "daily_tokens": world.settings.llm.daily_tokens,
        "to_be_made_anew": _left(world, author.by) if author else 0,
    }


def _left(world: World, by: str) -> int:
    """The episodes that *by* has not made yet: those that were not offered to it, and those that were, and wait."""
    readers = [each for each in world.subscriptions if each.kind is EpisodeOutdated]
    backlogs = [backlog for reader in readers for backlog in world.ledger.backlogs(reader)]
    return sum(1 for _ in world.kit.briefs.unrefined(but=(by,))) + sum(b.pending + (b.waiting or 0) for b in backlogs)


def _call_counts(counts: Mapping[str, int]) -> dict[str, int]:
    return (
        {name: counts.get(name, 0) for name in _COUNTS}
        | {name: counts.get(f"failed_{name}", 0) for name in FAILURES}
        | {f"off_{name}": counts.get(f"off_{name}", 0) for name in _OFF}
    )


def model_sections(report: Mapping[str, Any]) -> Iterator[str]:
    """The same for the eye; nothing where there is no model and never was."""
    if report["problem"]:
        yield f"workers do not start: {report['problem']}"
    if report["calls"]:
        names = (*_COUNTS, *FAILURES)
        rows = ((*(str(row[each]) for each in names), model) for model, row in report["calls"].items())
        yield table((*(_HEADS.get(each, each) for each in names), "model"), rows)
    for name, pause in report["out"].items():
        if name == report["configured"]:
            yield _out(name, pause)
    if report["tokens_today"] and report["daily_tokens"]:
        rows = ((f"{each['spent']:,}", f"{each['reserved']:,}", each["scope"]) for each in report["tokens_today"])
        yield table((f"tokens today, of {report['daily_tokens']:,}", "set aside", "scope"), rows)
    if left := report["to_be_made_anew"]:
        yield f"{counted(left, 'episode')} {'is' if left == 1 else 'are'} still to be made anew by the model"


def _out(model: str, pause: Mapping[str, Any]) -> str:
    """Since when *model* is out, why, and until when it is left alone."""
    since = f"{pause['since']:%Y-%m-%d %H:%M:%S} UTC"
    again = f"it is asked again from {pause['until']:%H:%M:%S} UTC on"
    match pause["failure"]:
        case Failure.OTHER:
            why = "its key, account, name or address has to be changed (`nous episodes` and the log say which)"
            return f"{model} has refused to answer since {since}: {why}; {again}"
        case Failure.QUOTA:
            return f"{model} has had enough since {since}; {again}"
        case failure:
            return f"{model} has not answered since {since} ({_HEADS[failure]}); {again}"


Report = Mapping[str, Any]

_FEW = 100
"""Letters that are looked at first, of which some are mostly dead: then there is no need to read the others."""

_COLUMNS = ("received", "done", "skipped", "dead", "erased", "parked", "in_flight")
_OF_QUEUES = ("queued", "started", "finished", "failed")
_HOW_TO_LOOK = "`nous status SESSION` says where a session is, `nous dead list` what was set aside"


def report_of(world: World) -> dict[str, Any]:
    """All figures of *world*, as `--json` prints them."""
    accounts = {each.group: world.ledger.account(each) for each in world.subscriptions}
    streams = [
        {"group": each.group, "type": each.kind.type, **asdict(backlog)}
        for each in world.subscriptions
        for backlog in world.ledger.backlogs(each)
    ]
    workers = workers_seen(world.rq_client, world.job_names)
    attended = {queue for each in workers for queue in each.queues}
    wanted = {each["group"] for each in streams if each["waiting"] or each["pending"]}
    if world.kit.courses.sessions(Stage.OPEN, limit=1):
        wanted.add(SESSION_KEEPER)  # nobody else ends those that say no goodbye
    return {
        "groups": {name: _row(account) for name, account in accounts.items()},
        "total": _sum(map(_row, accounts.values())),
        "balance": sum(abs(account.balance) for account in accounts.values()),
        "dead": _is_something_dead(world),
        "streams": streams,
        "queues": [asdict(queue) for queue in _queues(world)],
        "workers": [asdict(each) for each in workers],
        "unattended": sorted(name for name in wanted if world.job_names.own(name) not in attended),
        "model": model_report(world),
        "cannot_write": write_trouble(world.client),
    }


def _is_something_dead(world: World) -> bool:
    few = world.dead.letters(limit=_FEW)
    if any(letter.grave is Grave.DEAD for letter in few):
        return True
    return len(few) == _FEW and any(letter.grave is Grave.DEAD for letter in world.dead.letters())


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


def sections(report: Report) -> Iterator[str]:
    """*report* for people: tables, without the queues and streams that never had anything, and what is wrong."""
    groups = {**report["groups"], "total": report["total"]}
    yield table(("worker", *_COLUMNS), ((name, *(str(row[each]) for each in _COLUMNS)) for name, row in groups.items()))
    reasons = [
        (name, str(count), in_words(reason))
        for name, row in report["groups"].items()
        for reason, count in row["skipped_reasons"].items()
    ]
    if reasons:
        yield table(("worker", "skipped", "because"), reasons)
    yield from _flow(report)
    workers = ((each["state"], str(each["pid"]), ",".join(each["queues"]), each["name"]) for each in report["workers"])
    # What cannot be written cannot be renewed either, and workers whose entries run out may be there all the same.
    nobody = "no worker has been heard of" if report["cannot_write"] else "no worker runs: nous up"
    yield table(("state", "pid", "queues", "process"), workers) if report["workers"] else nobody
    yield from model_sections(report["model"])
    yield "\n".join(verdict(report))


def _flow(report: Report) -> Iterator[str]:
    streams = [
        (each["type"], each["lane"], str(each["length"]), _known(each["waiting"]), str(each["pending"]), each["group"])
        for each in report["streams"]
        if each["length"] or each["waiting"] != 0 or each["pending"]
    ]
    if streams:
        yield table(("stream", "lane", "length", "waiting", "pending", "for"), streams)
    queues = [
        (*(str(queue[each]) for each in _OF_QUEUES), queue["name"])
        for queue in report["queues"]
        if any(queue[each] for each in _OF_QUEUES)
    ]
    if queues:
        yield table((*_OF_QUEUES, "queue: attempts, as RQ remembers them"), queues)


def verdict(report: Report) -> list[str]:
    """What is wrong, and what to do about it, a line each; or else that nothing is."""
    found: list[str] = []
    if report["cannot_write"]:
        found.append(f"the server cannot write, so nothing goes on until it can: {report['cannot_write']}")
    if report["workers"] and report["unattended"]:
        names = report["unattended"]
        found.append(f"work waits for {', '.join(names)}, and no such worker runs: nous worker {' '.join(names)}")
    if report["dead"]:
        found.append("events are dead: `nous dead list` says which, and why")
    for name, row in report["groups"].items():
        if row["balance"]:
            found.append(f"DEFECT: the account of {name} does not add up: {row['why']}; {_HOW_TO_LOOK}")
    return found or ["the accounts add up, and nothing is dead"]


def _known(waiting: int | None) -> str:
    return "unknown" if waiting is None else str(waiting)


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
