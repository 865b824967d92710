"""`nous metrics`: print counters in Prometheus text format."""

from collections.abc import Iterator, Mapping
from datetime import datetime

import click

from nous.app.container import Container
from nous.bus.accounting import Backlog, GroupCounters
from nous.cli.framework import App
from nous.jobs.rq.worker_stats import workers_seen
from nous.llm.base import Failure

_ANSWERS = ("answered", "remembered", "asked_again", "without_schema")


@click.command()
@click.pass_obj
def metrics(app: App) -> None:
    """Print counters in Prometheus text format, for the node exporter's textfile collector.

    They are kept on the server, so they survive every process.
    """
    click.echo("\n".join(_lines(app.container)))


def _lines(container: Container) -> Iterator[str]:
    """Yield all counters, each family under its heading.

    Spec: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
    """
    yield from _family("nous_events_total", "counter", "Events delivered to a worker, by outcome.")
    for each in container.subscriptions:
        for outcome, reason, count in _outcomes(container.delivery_stats.counters(each)):
            yield _sample("nous_events_total", count, worker=each.group, outcome=outcome, reason=reason)
    yield from _balances(container)
    yield from _backlogs(container)
    yield from _family("nous_dead_letters", "gauge", "Dead letters (dead or parked); alert when it rises.")
    yield _sample("nous_dead_letters", container.dead_letters.count())
    calls = container.llm_stores.counters.counts()
    yield from _family("nous_model_answers_total", "counter", "Answers of a model: new, cached, asked for again.")
    for model, counts in calls.items():
        for name in _ANSWERS:
            yield _sample("nous_model_answers_total", counts.get(name, 0), model=model, kind=name)
    yield from _family("nous_model_failures_total", "counter", "Failed model calls, and unusable answers.")
    for model, counts in calls.items():
        for failure in Failure:
            yield _sample("nous_model_failures_total", counts.get(f"failed_{failure}", 0), model=model, failure=failure)
    yield from _family("nous_model_tokens_total", "counter", "Tokens that a model has read and written.")
    for model, counts in calls.items():
        yield _sample("nous_model_tokens_total", counts.get("tokens_in", 0), model=model, kind="read")
        yield _sample("nous_model_tokens_total", counts.get("tokens_out", 0), model=model, kind="written")
    yield from _family("nous_model_out_since_seconds", "gauge", "Unix time at which a model stopped answering.")
    for model, pause in container.llm_stores.circuits.current().items():
        yield _sample("nous_model_out_since_seconds", int(pause.since.timestamp()), model=model, failure=pause.failure)


def _balances(container: Container) -> Iterator[str]:
    accounts = {each.group: container.delivery_stats.counters(each) for each in container.subscriptions}
    yield from _family("nous_in_flight", "gauge", "Events delivered to a worker and not finished.")
    for worker, account in accounts.items():
        yield _sample("nous_in_flight", account.in_flight, worker=worker)
    text = "Delivered events that are unaccounted for. Alert unless it is 0; `nous status` says why."
    yield from _family("nous_accounts_balance", "gauge", text)
    for worker, account in accounts.items():
        yield _sample("nous_accounts_balance", account.discrepancy, worker=worker)


def _backlogs(container: Container) -> Iterator[str]:
    backlogs = [
        (each.group, backlog) for each in container.subscriptions for backlog in container.delivery_stats.backlogs(each)
    ]
    yield from _family("nous_waiting", "gauge", "Events not yet delivered to a worker, if known.")
    for worker, backlog in backlogs:
        if backlog.waiting is not None:
            yield _sample("nous_waiting", backlog.waiting, worker=worker, priority=backlog.priority)
    yield from _family("nous_oldest_pending_seconds", "gauge", "Age of the oldest event in flight; 0 if there is none.")
    for worker, backlog in backlogs:
        age = _age(backlog, container.context.clock())
        yield _sample("nous_oldest_pending_seconds", age, worker=worker, priority=backlog.priority)
    yield from _family("nous_lease_seconds", "gauge", "Configured lease, to compare ages with.")
    yield _sample("nous_lease_seconds", int(container.settings.worker.lease))
    yield from _family("nous_processes", "gauge", "Processes that run a worker, as far as visible from here.")
    queues = [queue for seen in workers_seen(container.rq_client, container.job_names) for queue in seen.queues]
    for each in container.subscriptions:
        yield _sample("nous_processes", queues.count(container.job_names.own(each.group)), worker=each.group)


def _age(backlog: Backlog, now: datetime) -> int:
    return max(int((now - backlog.oldest_pending).total_seconds()), 0) if backlog.oldest_pending else 0


def _outcomes(account: GroupCounters) -> Iterator[tuple[str, str, int]]:
    """Yield each outcome with its reason, if it has one, and its count."""
    for name in ("received", "done", "dead", "erased", "parked"):
        yield name, "", getattr(account, name)
    for reason, count in account.skipped.items():
        yield "skipped", reason, count


def _family(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def _sample(name: str, value: int, **labels: str) -> str:
    pairs = ",".join(_labels(labels))
    return f"{name}{{{pairs}}} {value}" if pairs else f"{name} {value}"


def _labels(labels: Mapping[str, str]) -> Iterator[str]:
    for name, value in labels.items():
        escaped = str(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
        if value:
            yield f'{name}="{escaped}"'
