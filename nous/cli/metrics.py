"""`nous metrics`: the counters as Prometheus reads them from a file."""

from collections.abc import Iterator, Mapping

import click

from nous.bus.ledger import Account
from nous.cli.frame import App
from nous.llm.base import Failure
from nous.wiring import World, build

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
    return f"{name}{{{','.join(_labels(labels))}}} {value}"


def _labels(labels: Mapping[str, str]) -> Iterator[str]:
    for name, value in labels.items():
        escaped = str(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
        if value:
            yield f'{name}="{escaped}"'
