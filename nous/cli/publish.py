"""`nous publish`: publish session files as events for workers; optionally await outcomes."""

import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from nous.app.container import Container
from nous.app.services import producer_of
from nous.bus.accounting import EventStatus
from nous.bus.base import Priority
from nous.cli.framework import FAILED, App, agent_option, exit_code, format_option, json_option, session_scope_option
from nous.cli.output import counted, in_words, note, print_json, say, table, with_progress
from nous.domain.episode import episode_id
from nous.domain.errors import BadInput, NotAllowed, NousError
from nous.domain.events import SessionEnded
from nous.domain.scope import Scope
from nous.jobs.rq.queue import WorkerSeen, dispatched, workers_seen
from nous.services.memory import known_facts, some_of
from nous.services.publisher import Producer, Published
from nous.services.session_intake import SessionMetadata
from nous.services.session_lifecycle import ChainStep, all_at_rest, follow
from nous.services.workspace import working_directory
from nous.text.sanitize import shortened
from nous.transcript.detect import UnknownFormat

_LONGEST = 32  # characters of an outcome in the table; `nous status SESSION` shows all of it
_SHORT = 18  # characters of an id in the table: as a rule enough to name the session
_POLL_INTERVAL = 0.2  # seconds between two polls: producers get no notification when a session is finished

Submitted = tuple[str, Published]
"""A session that was published, with the path that it came from."""

Chains = Mapping[UUID, Sequence[ChainStep]]
"""Steps that each published event has caused so far, by event id."""


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@session_scope_option
@click.option("--session", help="Id of the session, if the file has none or a different one.")
@agent_option
@format_option
@click.option("--compacting", is_flag=True, help="The session goes on. Its agent is about to drop the beginning.")
@click.option("--upload", is_flag=True, help="Send the file contents along, for workers on other hosts.")
@click.option("--bulk", is_flag=True, help="Old sessions: process them after those that have just ended.")
@click.option("--again", is_flag=True, help="Accept sessions that were forgotten.")
@click.option("--durable", is_flag=True, help="Wait until each event is on the server's disk.")
@click.option("--wait", is_flag=True, help="Wait until each is finished. Exit 1 if one failed or is late.")
@click.option(
    "--timeout",
    default=600.0,
    type=click.FloatRange(min=0),
    show_default=True,
    help="How long to --wait, in seconds. 0 checks once.",
)
@json_option
@click.pass_obj
def publish(  # noqa: PLR0913 (a command's options are its parameters)
    app: App,
    paths: Sequence[str],
    *,
    scope: Scope | None,
    session: str | None,
    agent: str,
    format_: str | None,
    compacting: bool,
    bulk: bool,
    wait: bool,
    timeout: float,
    as_json: bool,
    **how: bool,
) -> None:
    """Submit sessions that have ended. Each PATH is a session file, in any format.

    Publishing is idempotent: a session is processed again only if it has grown, and a publication that broke off can be
    repeated. A file that cannot be used is reported, and the others are published. Workers read the files later, so
    save piped input to a file first. For folders, see nous watch. JSON is one line per session.
    """
    about = _metadata(paths, session, scope=scope, agent_id=agent, format=format_, compacting=compacting)
    container, failures, priority = app.container, list[NousError](), Priority.BULK if bulk else Priority.LIVE
    submitted = list(_publish_all(producer_of(container), paths, failures, about=about, priority=priority, **how))
    workers = _workers(container) if submitted else None
    if workers is not None and not any(dispatched(workers)) and any(each.receipt.fresh for _, each in submitted):
        note("no worker runs yet; `nous up` or `nous worker` will process them")
    steps = awaited(container, [each for _, each in submitted], timeout=timeout) if wait and workers is not None else {}
    rows = [_row(path, each, steps.get(each.event.id, ())) for path, each in submitted]
    for row in rows if as_json else ():
        print_json(row, indent=False)
    if rows and not as_json:
        columns = {"session": "session", "published": "published", "path": "file"}
        say("\n".join(_outcomes(container, submitted, steps)) if steps else table(rows, columns))
    for trouble in troubles(submitted, steps):
        note(trouble)
    if wait and submitted and workers is None:
        raise NotAllowed("they are published, but this user may not see what becomes of them: leave out --wait")
    click.get_current_context().exit(exit_code(failures[0]) if failures else FAILED if has_failed(steps) else 0)


def _metadata(paths: Sequence[str], session: str | None, **stated: Any) -> SessionMetadata:
    if session is not None and len(paths) > 1:
        raise BadInput(f"--session {session} names one session, and several files were given; publish each alone")
    return SessionMetadata(session_id=session, cwd=working_directory(), **stated)


def _row(path: str, each: Published, steps: Sequence[ChainStep]) -> dict[str, Any]:
    return {
        "path": path,
        "session": each.event.session_id,
        "scope": str(each.event.scope),
        "event": str(each.event.id),
        "published": "now" if each.receipt.fresh else "before",
        "steps": [{"worker": s.worker, "where": s.location.where, "why": s.location.reason} for s in steps],
    }


def _shown(path: str) -> str:
    return os.fsencode(path).decode(errors="replace")  # a name may be no UTF-8


def _publish_all(
    producer: Producer, paths: Sequence[str], failures: list[NousError], **how: Any
) -> Iterator[Submitted]:
    for path in with_progress(paths, "publishing"):
        try:
            for published in producer.publish(Path(path), warn=note, **how):
                yield _shown(path), published
        except NousError as error:
            _report(_shown(path), error, failures)


def _report(path: str, error: NousError, failures: list[NousError]) -> None:
    failures.append(error)
    about = "" if path in str(error) else f"{path}: "
    hint = "; `nous dev formats` lists what it can" if isinstance(error, UnknownFormat) else ""
    note(f"{about}{error}{hint}")


def awaited(container: Container, published: Sequence[Published], *, timeout: float) -> Chains:
    """Poll the steps of all sessions until they are finished or *timeout* seconds have passed."""
    deadline = time.monotonic() + timeout
    chains: dict[UUID, Sequence[ChainStep]] = {}
    waiting = kinds = {each.event.id: type(each.event) for each in published}
    while waiting:
        for each, kind in waiting.items():
            chains[each] = [*follow(each, kind, workers=container.workers, delivery_stats=container.delivery_stats)]
        waiting = {each: kind for each, kind in waiting.items() if not all_at_rest(chains[each])}
        if sys.stderr.isatty():
            click.echo(f"\r{len(kinds) - len(waiting)}/{len(kinds)} sessions", err=True, nl=not waiting)
        if time.monotonic() >= deadline:
            break
        if waiting:
            time.sleep(_POLL_INTERVAL)
    return chains


def _workers(container: Container) -> Sequence[WorkerSeen] | None:
    """Return the live RQ workers; None if this user may not see them."""
    try:
        return workers_seen(container.rq_client, container.job_names)
    except NotAllowed:
        return None


def has_failed(chains: Chains) -> bool:
    """Return whether a session is dead or parked, or was not finished in time."""
    return any(step.has_failed or not step.is_at_rest for chain in chains.values() for step in chain)


def troubles(submitted: Sequence[Submitted], chains: Chains) -> Iterator[str]:
    """Yield failed sessions with their reasons, and the number of late ones."""
    for path, published in {published.event.id: (path, published) for path, published in submitted}.values():
        for step in chains.get(published.event.id, ()):
            if step.has_failed:
                why = f"{step.location.where}: {in_words(step.location.reason)}"
                yield f"{path}, session {published.event.session_id}: {why}"
    if late := sum(not all_at_rest(chain) for chain in chains.values()):
        yield f"{late} not finished yet; `nous status SESSION` shows where it is"


def _outcomes(container: Container, submitted: Sequence[Submitted], chains: Chains) -> Iterator[str]:
    """Yield a table of the sessions, each once, and a line of totals."""
    sources = _facts_of(container, {published.event.scope for _, published in submitted})
    rows, facts = list[dict[str, Any]](), set[UUID]()
    for path, event in {each.event.session_id: (path, each.event) for path, each in submitted}.values():
        outcome, count, name = str(EventStatus.DONE), None, path
        episode = container.memory.episodes.get(event.scope, episode_id(event.scope, event.session_id))
        # A session that goes on may have an episode, but only of its earlier state.
        if episode and isinstance(event, SessionEnded):
            found = sources[episode.id]
            facts |= found
            outcome, count, name = episode.summary.outcome, len(found), f"{episode.summary.title} ({Path(path).name})"
        outcome = _stopped_by(chains.get(event.id, ())) or outcome
        rows.append({"outcome": outcome, "facts": count, "id": event.session_id[:_SHORT], "session": name})
    yield table(rows, ("outcome", "facts", "id", "session"))
    kinds = Counter(each["outcome"].partition(":")[0] for each in rows).most_common()
    new = len({published.event.session_id for _, published in submitted if published.receipt.fresh})
    some_new = "" if new == len(rows) else f", {new:,} new"
    became = ", ".join(f"{count:,} {what}" for what, count in kinds)
    scopes = some_of(sorted({str(published.event.scope) for _, published in submitted}))
    yield f"{counted(len(rows), 'session')}{some_new}: {became}; {counted(len(facts), 'fact')} in {scopes}"


def _facts_of(container: Container, scopes: Iterable[Scope]) -> Mapping[UUID, set[UUID]]:
    """Return the facts that each episode is a source of."""
    found = defaultdict[UUID, set[UUID]](set)
    for scope in scopes:
        for known in known_facts(container.memory, scope, superseded=True):
            for source in known.sources:
                found[source.episode_id].add(known.fact.id)
    return found


def _stopped_by(chain: Sequence[ChainStep]) -> str | None:
    """Return in a few words why a session is not done, or was skipped; None if it is done."""
    for number, step in enumerate(chain):
        is_skipped = number == 0 and step.location.where is EventStatus.SKIPPED
        if is_skipped or step.has_failed or not step.is_at_rest:
            why = f": {in_words(step.location.reason)}" if step.location.reason else ""
            return shortened(f"{step.location.where}{why}", _LONGEST)
    return None if chain else str(EventStatus.WAITING)
