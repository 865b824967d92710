"""Print system status, one session's progress (`nous status`), or Prometheus metrics."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from nous.app.container import Container
from nous.bus.accounting import GroupCounters
from nous.bus.base import DeadLetterKind, Subscription
from nous.cli.framework import FAILED, App, json_option, option_of_scope
from nous.cli.lookup import current_count, elsewhere, refuse_forgotten
from nous.cli.output import FAILURES, counted, in_words, render, second, table
from nous.domain.errors import BadInput, NotFound
from nous.domain.events import DecisionRecorded, EpisodeOutdated, SessionCompacting, SessionEnded
from nous.domain.scope import Scope, checked_name
from nous.domain.session_state import SessionStatus
from nous.hosts.spool import Spool
from nous.jobs.rq.queue import dispatched, queues_of, workers_seen
from nous.llm.base import Failure
from nous.redis_server.client import write_trouble
from nous.services.memory import SHORTEST, find_episode
from nous.store.base import NO_VECTORS
from nous.text.language import tables

if TYPE_CHECKING:
    from nous.services.session_lifecycle import ChainStep

Report = Mapping[str, Any]

_ANSWERS = ("answered", "remembered", "asked_again")
_CALLS = ("calls", *_ANSWERS, "tokens_in", "tokens_out")
_OFF = ("off_title", "off_summary", "off_rationale")
_OF_FACTS = "facts "
_SESSION_KEEPER = "session-keeper"
_MOST_ROWS = 20_000

_COLUMNS = ("received", "done", "skipped", "dead", "erased", "parked", "in_flight")
_OF_QUEUES = ("queued", "started", "finished", "failed")

_ABOUT = (SessionEnded, SessionCompacting, DecisionRecorded, EpisodeOutdated)
"""Kinds of events that can be looked up by their session."""


@click.command()
@click.argument("session", required=False)
@option_of_scope("The session's scope: project, agent/project or tenant/agent/project.")
@click.option("--all", "everything", is_flag=True, help="Show counters, streams, queues, processes and model calls.")
@json_option
@click.pass_obj
def status(app: App, session: str | None, *, scope: Scope | None, everything: bool, as_json: bool) -> None:
    """Say whether all is well, and what is wrong; or trace one SESSION.

    A prefix of its id is enough once it has an episode. --all also shows counters, streams, queues and workers. The
    counters reconcile at every moment: received = done + skipped + dead + erased + parked + in flight. Only live
    workers are shown, as far as they are visible from here.
    """
    if session is not None:
        session, steps = _steps_of(app.container, session, scope or app.scope)
        rows = [_step(each) for each in steps]
        shown = ({**row, "why": in_words(row["why"])} for row in rows)
        lines = (f"session {session}", table(shown, ("worker", "where", "next_try", "event", "why")))
        render({"session": session, "steps": rows}, lines, as_json=as_json)
        failed = any(step.has_failed for step in steps)
    elif scope is not None:
        raise BadInput("--scope is of a SESSION: without one, all there is on the server is shown")
    else:
        report = _report(app.container)
        render(report, _overview(report, app.container, everything=everything), as_json=as_json)
        failed = report["dead"] or report["balance"]
    click.get_current_context().exit(FAILED if failed else 0)


def _steps_of(container: Container, session: str, scope: Scope) -> tuple[str, Sequence["ChainStep"]]:
    """Return a session, found by id or, with an episode, by a prefix; and its steps."""
    checked_name(session, "the id of a session")
    stats = container.delivery_stats
    events = [(kind, event_id) for kind in _ABOUT for event_id in stats.events_of(session, scope, kind)]
    if not events:
        refuse_forgotten(session, container, scope)
        state = container.memory.session_states.session_state(scope, session)
        if state and state.status is not SessionStatus.ENDED:
            raise NotFound(
                f"session {session!r} has not been published yet; it is {state.status}: `nous sessions` shows it"
            )
        with suppress(NotFound):
            is_prefix = len(session) >= SHORTEST
            if is_prefix and (whole := find_episode(container.memory, session, scope).session_id) != session:
                return _steps_of(container, whole, scope)
        raise NotFound(f"no session {session!r} was published in the scope {scope}{elsewhere(container, scope)}")
    from nous.services.session_lifecycle import follow  # noqa: PLC0415 (only a session is followed)

    trace = partial(follow, workers=container.workers, delivery_stats=stats)
    steps = [step for kind, event_id in events for step in trace(event_id, kind)]
    if not steps:
        raise NotFound(f"nothing is left of the events of session {session!r} in {scope}: they were erased or trimmed")
    return session, steps


def _step(step: "ChainStep") -> dict[str, Any]:
    at = step.location
    event = str(step.event_id)
    return {"worker": step.worker, "event": event, "where": at.where, "next_try": at.next_try, "why": at.reason}


def _report(container: Container) -> dict[str, Any]:
    # A worker that reads no stream yet has counters only where its stream was deleted, whatever its kind of events.
    readers = {name: Subscription(name, SessionEnded) for name in sorted(container.worker_names)}
    readers |= {each.group: each for each in container.groups}
    groups = {name: _account(container.delivery_stats.counters(each)) for name, each in readers.items()}
    streams = [
        # Backlogs call it priority, as tables do; scripts have read `lane` since the start.
        {"group": each.group, "type": each.kind.type, "lane": backlog.priority, **asdict(backlog)}
        for each in container.groups
        for backlog in container.delivery_stats.backlogs(each)
    ]
    workers = workers_seen(container.rq_client, container.job_names)
    attended = set(dispatched(workers))
    wanted = {each["group"] for each in streams if each["waiting"] or each["pending"]}
    if container.memory.session_states.sessions(SessionStatus.OPEN, limit=1):
        wanted.add(_SESSION_KEEPER)  # no other worker ends sessions that send no end event
    queues = (queues_of(container.job_names.own(name), container.rq_client) for name in sorted(container.worker_names))
    letters = list(container.dead_letters.each())
    return {
        "groups": groups,
        "total": {name: sum(row[name] for row in groups.values()) for name in _COLUMNS},
        "balance": sum(abs(row["balance"]) for row in groups.values()),
        **{str(kind): sum(letter.letter_kind is kind for letter in letters) for kind in DeadLetterKind},
        "streams": streams,
        "queues": [queue for each in queues for queue in each],
        "workers": [asdict(each) for each in workers],
        "unattended": sorted(name for name in wanted if container.job_names.own(name) not in attended),
        "model": model_report(container),
        "cannot_write": write_trouble(container.client),
        "hooks": Spool(container.settings.data_dir / "spool").report(),
    }


def _account(account: GroupCounters) -> dict[str, Any]:
    counts = {name: getattr(account, name) for name in _COLUMNS}
    skipped = {"skipped": sum(account.skipped.values()), "skipped_reasons": account.skipped}
    return {**counts, **skipped, "balance": account.discrepancy, "why": account.why}


def model_report(container: Container) -> dict[str, Any]:
    """Return the model metrics as `nous status --json` shows them.

    A call fails with timeout, transport, quota or other. parse counts unusable answers, not calls. `off_*` count
    titles, summaries and rationales that do not have the requested size. `facts` counts the facts of its answers that
    were kept, and the dropped ones by reason.
    """
    stores, settings = container.llm_stores, container.settings
    llm = container.llm if settings.background_model or settings.summary.anchored_prompt else None
    summarizer = llm.summarizer if llm else None
    counters = {**{name: name for name in (*_CALLS, *_OFF)}, **{name: f"failed_{name}" for name in FAILURES}}
    return {
        "configured": settings.background_model,
        "problem": str(llm.problem) if llm and llm.problem else None,
        "prompt": summarizer.prompt.version if summarizer else None,
        "calls": {
            model: {name: counts.get(counter, 0) for name, counter in counters.items()}
            for model, counts in stores.counters.counts().items()
        },
        "facts": {
            model: {name.removeprefix(_OF_FACTS): n for name, n in counts.items() if name.startswith(_OF_FACTS)}
            for model, counts in stores.counters.counts().items()
        },
        "out": {
            name: {"since": pause.since, "until": pause.until, "failure": pause.failure, "failures": pause.failures}
            for name, pause in stores.circuits.current().items()
        },
        "tokens_today": [
            {"scope": str(each.scope), "spent": each.spent, "reserved": each.reserved}
            for each in stores.token_usage.usage(datetime.now(UTC).date())
        ],
        "daily_tokens": settings.llm.daily_tokens,
        "to_be_made_anew": _left(container, summarizer.by) if summarizer else 0,
    }


def _left(container: Container, by: str) -> int:
    """Return how many episodes *by* has yet to make, at least: queued ones may be listed, too."""
    readers = [each for each in container.groups if each.kind is EpisodeOutdated]
    backlogs = [backlog for reader in readers for backlog in container.delivery_stats.backlogs(reader)]
    queued = sum(each.pending + (each.waiting or 0) for each in backlogs)
    return max(queued, sum(1 for _ in container.memory.episodes.unrefined(but=(by,))))


def _overview(report: Report, container: Container, *, everything: bool) -> Iterator[str]:
    yield headline(report, *_known(container))
    for each in sections(report) if everything else ():
        yield f"\n{each}"
    yield from ("", *_model_problems(report["model"]), *verdict(report))


def headline(report: Report, sessions: int, facts: int | None) -> str:
    """Say in one line how much is known and left; *facts* is None if they are too many to count."""
    total = report["total"]
    known = "" if facts is None else f", {counted(facts, 'fact')}"
    waiting = sum(each["waiting"] or 0 for each in report["streams"])
    hooks = report["hooks"]["waiting"]
    left = {
        "in the spool of hooks": hooks,
        "waiting": waiting,
        "in flight": total["in_flight"],
        "dead": report["dead"],
        "parked": report["parked"],
    }
    states = ", ".join(f"{count:,} {state}" for state, count in left.items() if count)
    return f"{counted(sessions, 'session')}{known}: {states or 'all done'}"


def sections(report: Report) -> Iterator[str]:
    """Yield the tables of *report*, without unused queues and streams."""
    groups = [{"worker": name, **row} for name, row in report["groups"].items()]
    yield table([*groups, {"worker": "total", **report["total"]}], ("worker", *_COLUMNS))
    reasons = [
        {"worker": row["worker"], "skipped": count, "because": in_words(reason)}
        for row in groups
        for reason, count in row["skipped_reasons"].items()
    ]
    streams = [each for each in report["streams"] if each["length"] or each["waiting"] != 0 or each["pending"]]
    queues = [each for each in report["queues"] if any(each[name] for name in _OF_QUEUES)]
    calls = [{**row, "model": name} for name, row in report["model"]["calls"].items()]
    fates = [
        {"facts": count, "fate": fate, "model": model}
        for model, counts in report["model"]["facts"].items()
        for fate, count in counts.items()
    ]
    for rows, columns in (
        (reasons, ("worker", "skipped", "because")),
        (streams, {"type": "stream", "lane": "priority", **_same("length", "waiting", "pending"), "group": "for"}),
        (queues, {**_same(*_OF_QUEUES), "name": "queue: attempts, as RQ remembers them"}),
        (report["workers"], {**_same("state", "pid", "queues"), "name": "process"}),
        (calls, (*_CALLS, *FAILURES, "model")),
        (fates, {**_same("facts"), "fate": "kept, or dropped because", "model": "model"}),
        (report["model"]["tokens_today"] if report["model"]["daily_tokens"] else (), ("spent", "reserved", "scope")),
    ):
        if rows:
            yield table(rows, columns)


def _same(*names: str) -> dict[str, str]:
    return {name: name.replace("_", " ") for name in names}


def _model_problems(model: Report) -> Iterator[str]:
    if model["problem"]:
        yield f"workers do not start: {model['problem']}"
    for name, pause in model["out"].items():
        hint = " (`nous episodes` and the log say what has to be changed)" if pause["failure"] == Failure.OTHER else ""
        again = f"it is called again from {second(pause['until'])} on"
        yield f"{name}: {FAILURES[pause['failure']]}{hint}, since {second(pause['since'])}; {again}"
    if left := model["to_be_made_anew"]:
        yield f"{counted(left, 'episode')} {'is' if left == 1 else 'are'} still to be regenerated by the model"


def verdict(report: Report) -> list[str]:
    """Return a line for each problem, with its remedy, or one line if there is none."""
    found: list[str] = []
    if report["cannot_write"]:
        found.append(f"the server cannot write, so nothing goes on until it can: {report['cannot_write']}")
    if report["workers"] and report["unattended"]:
        names = report["unattended"]
        found.append(f"work waits for {', '.join(names)}, and no process dispatches it: nous worker {' '.join(names)}")
    if report["hooks"]["rejected"] or report["hooks"]["failed_at"]:
        found.append("hooks reported what could not be published, or failed: `nous doctor` says which, and why")
    if report["dead"]:
        found.append("events are dead: `nous dead-letters list` says which, and why")
    for name, row in report["groups"].items():
        if row["balance"]:
            found.append(f"DEFECT: the counters of {name} do not reconcile: {row['why']}")
    # Without writes, workers cannot renew their registration: they may run although it has expired.
    none = "no worker is registered" if report["cannot_write"] else "no worker runs: nous up"
    return [*([] if report["workers"] else [none]), *(found or ["the counters reconcile, and nothing is dead"])]


def _known(container: Container) -> tuple[int, int | None]:
    """Count sessions with an episode, and current facts; None for over `_MOST_ROWS` log rows."""
    total, facts, scopes = 0, 0, container.memory.episodes.scopes()
    sessions = sum(map(container.memory.episodes.count, scopes))
    for scope in scopes:
        rows = container.memory.facts.read(scope, embedder=NO_VECTORS, limit=_MOST_ROWS + 1 - total).rows
        total += len(rows)
        if total > _MOST_ROWS:
            return sessions, None
        facts += current_count(rows)
    return sessions, facts


_Sample = tuple[str, int, dict[str, str]]  # family, value and labels; an empty label is left out


@click.command()
@click.pass_obj
def metrics(app: App) -> None:
    """Print counters in Prometheus text format, for the node exporter's textfile collector.

    They are kept on the server, so they survive every process.
    """
    samples = [*_of_workers(app.container), *_of_models(app.container)]
    for (where, rule), count in sorted(app.container.redactions.counts().items()):
        samples.append(("nous_redactions_total", count, {"rule": rule, "where": where}))
    click.echo("\n".join(_metric_lines(samples)))


def _metric_lines(samples: Iterable[_Sample]) -> Iterator[str]:
    # Spec: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
    for family, text in tables("nous.cli", "metrics").items():
        kind = "counter" if family.endswith("_total") else "gauge"
        yield from (f"# HELP {family} {text}", f"# TYPE {family} {kind}")
        for name, value, labels in samples:
            if name == family:
                pairs = ",".join(f'{label}="{_escaped(given)}"' for label, given in labels.items() if given)
                yield f"{name}{{{pairs}}} {value}" if pairs else f"{name} {value}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _of_workers(container: Container) -> Iterator[_Sample]:
    queues = list(dispatched(workers_seen(container.rq_client, container.job_names)))
    stats, now = container.delivery_stats, container.clock()
    for each in container.subscriptions:
        labels, account = {"worker": each.group}, stats.counters(each)
        for outcome in ("received", "done", "dead", "erased", "parked"):
            yield "nous_events_total", getattr(account, outcome), {**labels, "outcome": outcome}
        for reason, count in account.skipped.items():
            yield "nous_events_total", count, {**labels, "outcome": "skipped", "reason": reason}
        yield "nous_in_flight", account.in_flight, labels
        yield "nous_accounts_balance", account.discrepancy, labels
        yield "nous_processes", queues.count(container.job_names.own(each.group)), labels
        for backlog in stats.backlogs(each):
            where = {**labels, "priority": str(backlog.priority)}
            if backlog.waiting is not None:
                yield "nous_waiting", backlog.waiting, where
            age = now - (backlog.oldest_pending or now)
            yield "nous_oldest_pending_seconds", max(int(age.total_seconds()), 0), where
    yield "nous_lease_seconds", int(container.settings.worker.lease), {}
    yield "nous_dead_letters", container.dead_letters.count(), {}


def _of_models(container: Container) -> Iterator[_Sample]:
    for model, counts in container.llm_stores.counters.counts().items():
        for name in _ANSWERS:
            yield "nous_model_answers_total", counts.get(name, 0), {"model": model, "kind": name}
        for failure in Failure:
            labels = {"model": model, "failure": str(failure)}
            yield "nous_model_failures_total", counts.get(f"failed_{failure}", 0), labels
        for name in (each for each in counts if each.startswith(_OF_FACTS)):
            yield "nous_model_facts_total", counts[name], {"model": model, "fate": name.removeprefix(_OF_FACTS)}
        for name, kind in (("tokens_in", "read"), ("tokens_out", "written")):
            yield "nous_model_tokens_total", counts.get(name, 0), {"model": model, "kind": kind}
    for model, pause in container.llm_stores.circuits.current().items():
        labels = {"model": model, "failure": str(pause.failure)}
        yield "nous_model_out_since_seconds", int(pause.since.timestamp()), labels
