"""`nous metrics`: print counters in Prometheus text format."""

from collections.abc import Iterable, Iterator
from datetime import datetime

import click

from nous.app.container import Container
from nous.bus.accounting import Backlog, GroupCounters
from nous.cli.framework import App
from nous.jobs.rq.worker_stats import workers_seen
from nous.llm.base import Failure

_FAMILIES = {
    "nous_events_total": ("counter", "Events delivered to a worker, by outcome."),
    "nous_in_flight": ("gauge", "Events delivered to a worker and not finished."),
    "nous_accounts_balance": (
        "gauge",
        "Delivered events that are unaccounted for. Alert unless it is 0; `nous status` says why.",
    ),
    "nous_waiting": ("gauge", "Events not yet delivered to a worker, if known."),
    "nous_oldest_pending_seconds": ("gauge", "Age of the oldest event in flight; 0 if there is none."),
    "nous_lease_seconds": ("gauge", "Configured lease, to compare ages with."),
    "nous_processes": ("gauge", "Processes that run a worker, as far as visible from here."),
    "nous_dead_letters": ("gauge", "Dead letters (dead or parked); alert when it rises."),
    "nous_model_answers_total": ("counter", "Answers of a model: new, cached, asked for again."),
    "nous_model_failures_total": ("counter", "Failed model calls, and unusable answers."),
    "nous_model_tokens_total": ("counter", "Tokens that a model has read and written."),
    "nous_model_out_since_seconds": ("gauge", "Unix time at which a model stopped answering."),
}
"""Kind and meaning of each family of metrics."""

_ANSWERS = ("answered", "remembered", "asked_again", "without_schema")

_Sample = tuple[str, int, dict[str, str]]
"""Family, value and labels; an empty label is left out."""


@click.command()
@click.pass_obj
def metrics(app: App) -> None:
    """Print counters in Prometheus text format, for the node exporter's textfile collector.

    They are kept on the server, so they survive every process.
    """
    samples = [*_of_workers(app.container), *_of_backlogs(app.container), *_of_models(app.container)]
    click.echo("\n".join(_lines(samples)))


def _lines(samples: Iterable[_Sample]) -> Iterator[str]:
    """Yield all samples, each family under its heading.

    Spec: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
    """
    for family, (kind, text) in _FAMILIES.items():
        yield from (f"# HELP {family} {text}", f"# TYPE {family} {kind}")
        for name, value, labels in samples:
            if name == family:
                pairs = ",".join(f'{label}="{_escaped(given)}"' for label, given in labels.items() if given)
                yield f"{name}{{{pairs}}} {value}" if pairs else f"{name} {value}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _of_workers(container: Container) -> Iterator[_Sample]:
    queues = [queue for seen in workers_seen(container.rq_client, container.job_names) for queue in seen.queues]
    for each in container.subscriptions:
        labels, account = {"worker": each.group}, container.delivery_stats.counters(each)
        for outcome, reason, count in _outcomes(account):
            yield "nous_events_total", count, {**labels, "outcome": outcome, "reason": reason}
        yield "nous_in_flight", account.in_flight, labels
        yield "nous_accounts_balance", account.discrepancy, labels
        yield "nous_processes", queues.count(container.job_names.own(each.group)), labels
    yield "nous_dead_letters", container.dead_letters.count(), {}


def _outcomes(account: GroupCounters) -> Iterator[tuple[str, str, int]]:
    """Yield each outcome with its reason, if it has one, and its count."""
    for name in ("received", "done", "dead", "erased", "parked"):
        yield name, "", getattr(account, name)
    for reason, count in account.skipped.items():
        yield "skipped", reason, count


def _of_backlogs(container: Container) -> Iterator[_Sample]:
    now = container.clock()
    for each in container.subscriptions:
        for backlog in container.delivery_stats.backlogs(each):
            labels = {"worker": each.group, "priority": str(backlog.priority)}
            if backlog.waiting is not None:
                yield "nous_waiting", backlog.waiting, labels
            yield "nous_oldest_pending_seconds", _age(backlog, now), labels
    yield "nous_lease_seconds", int(container.settings.worker.lease), {}


def _age(backlog: Backlog, now: datetime) -> int:
    return max(int((now - backlog.oldest_pending).total_seconds()), 0) if backlog.oldest_pending else 0


def _of_models(container: Container) -> Iterator[_Sample]:
    for model, counts in container.llm_stores.counters.counts().items():
        for name in _ANSWERS:
            yield "nous_model_answers_total", counts.get(name, 0), {"model": model, "kind": name}
        for failure in Failure:
            labels = {"model": model, "failure": str(failure)}
            yield "nous_model_failures_total", counts.get(f"failed_{failure}", 0), labels
        for name, kind in (("tokens_in", "read"), ("tokens_out", "written")):
            yield "nous_model_tokens_total", counts.get(name, 0), {"model": model, "kind": kind}
    for model, pause in container.llm_stores.circuits.current().items():
        labels = {"model": model, "failure": str(pause.failure)}
        yield "nous_model_out_since_seconds", int(pause.since.timestamp()), labels
