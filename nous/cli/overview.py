"""What `nous status` tells of the whole system: the figures, and what they mean."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from nous.bus.base import Grave
from nous.bus.ledger import Account
from nous.cli.model import model_report, model_sections
from nous.cli.show import in_words, table
from nous.course import Stage
from nous.jobs.rq.census import QueueCount, queues_of, workers_seen
from nous.server.check import write_trouble
from nous.wiring import World
from nous.wiring.finisher import SESSION_KEEPER

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
