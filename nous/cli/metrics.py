"""`nous metrics`: the counters as Prometheus reads them from a file."""

from collections.abc import Iterator, Mapping
from datetime import datetime

import click

from nous.app import World, build
from nous.bus.accounting import Account, Backlog
from nous.cli.framework import App
from nous.jobs.rq.worker_stats import workers_seen
from nous.llm.base import Failure

_ANSWERS = ("answered", "remembered", "asked_again", "without_schema")


@click.command()
@click.pass_obj
def metrics(app: App) -> None:
    """Print counters in Prometheus's text format, for the textfile collector of its node exporter.

    They are kept on the server, so they survive every process.
    """
    click.echo("\n".join(_lines(build(app.settings))))


def _lines(world: World) -> Iterator[str]:
    """The counters, each family under its heading.

    Spec: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
    """
    yield from _family("nous_events_total", "counter", "What became of the events that a worker was offered.")
    for each in world.subscriptions:
        for outcome, reason, count in _outcomes(world.ledger.account(each)):
            yield _sample("nous_events_total", count, worker=each.group, outcome=outcome, reason=reason)
    yield from _balances(world)
    yield from _backlogs(world)
    yield from _family("nous_dead_letters", "gauge", "Letters about what is dead or parked; alarm when it rises.")
    yield _sample("nous_dead_letters", world.dead.count())
    calls = world.model_books.tally.counts()
    yield from _family("nous_model_answers_total", "counter", "Answers of a model: new, remembered, asked for again.")
    for model, counts in calls.items():
        for name in _ANSWERS:
            yield _sample("nous_model_answers_total", counts.get(name, 0), model=model, kind=name)
    yield from _family("nous_model_failures_total", "counter", "Calls that failed, and answers that were of no use.")
    for model, counts in calls.items():
        for failure in Failure:
            yield _sample("nous_model_failures_total", counts.get(f"failed_{failure}", 0), model=model, failure=failure)
    yield from _family("nous_model_tokens_total", "counter", "Tokens that a model has read and written.")
    for model, counts in calls.items():
        yield _sample("nous_model_tokens_total", counts.get("tokens_in", 0), model=model, kind="read")
        yield _sample("nous_model_tokens_total", counts.get("tokens_out", 0), model=model, kind="written")
    yield from _family("nous_model_out_since_seconds", "gauge", "When a model was found not to answer.")
    for model, pause in world.model_books.outages.current().items():
        yield _sample("nous_model_out_since_seconds", int(pause.since.timestamp()), model=model, failure=pause.failure)


def _balances(world: World) -> Iterator[str]:
    accounts = {each.group: world.ledger.account(each) for each in world.subscriptions}
    yield from _family("nous_in_flight", "gauge", "Events that a worker was offered, and that are not done.")
    for worker, account in accounts.items():
        yield _sample("nous_in_flight", account.in_flight, worker=worker)
    told = "Events that were offered and are nowhere: 0 = it adds up. Alarm on anything else; `nous status` says why."
    yield from _family("nous_accounts_balance", "gauge", told)
    for worker, account in accounts.items():
        yield _sample("nous_accounts_balance", account.balance, worker=worker)


def _backlogs(world: World) -> Iterator[str]:
    backlogs = [(each.group, backlog) for each in world.subscriptions for backlog in world.ledger.backlogs(each)]
    yield from _family("nous_waiting", "gauge", "Events that a worker was not offered yet, where that can be told.")
    for worker, backlog in backlogs:
        if backlog.waiting is not None:
            yield _sample("nous_waiting", backlog.waiting, worker=worker, lane=backlog.lane)
    yield from _family("nous_oldest_pending_seconds", "gauge", "Age of the oldest event in flight; 0 if there is none.")
    for worker, backlog in backlogs:
        age = _age(backlog, world.kit.clock())
        yield _sample("nous_oldest_pending_seconds", age, worker=worker, lane=backlog.lane)
    yield from _family("nous_lease_seconds", "gauge", "The lease that is set here, to hold ages against.")
    yield _sample("nous_lease_seconds", int(world.settings.worker.lease))
    yield from _family("nous_processes", "gauge", "Processes that run a worker, as far as can be told from here.")
    queues = [queue for seen in workers_seen(world.rq_client, world.job_names) for queue in seen.queues]
    for each in world.subscriptions:
        yield _sample("nous_processes", queues.count(world.job_names.own(each.group)), worker=each.group)


def _age(backlog: Backlog, now: datetime) -> int:
    return max(int((now - backlog.oldest_pending).total_seconds()), 0) if backlog.oldest_pending else 0


def _outcomes(account: Account) -> Iterator[tuple[str, str, int]]:
    """Each outcome with its reason, if it has one, and its count."""
    for name in ("received", "done", "dead", "erased", "parked"):
        yield name, "", getattr(account, name)
    for reason, count in account.skipped.items():
        yield "skipped", reason, count


def _family(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def _sample(name: str, value: int, **labels: str) -> str:
    told = ",".join(_labels(labels))
    return f"{name}{{{told}}} {value}" if told else f"{name} {value}"


def _labels(labels: Mapping[str, str]) -> Iterator[str]:
    for name, value in labels.items():
        escaped = str(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
        if value:
            yield f'{name}="{escaped}"'
