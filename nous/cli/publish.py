"""`nous publish`: submit sessions, and optionally wait for their outcomes."""

import shlex
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from nous.app.container import Container, build
from nous.app.services import producer_of
from nous.bus.accounting import EventStatus
from nous.bus.base import Priority
from nous.cli.framework import FAILED, App, exit_code
from nous.cli.output import counted, in_words, print_json, say, table
from nous.domain.episode import Episode
from nous.domain.errors import BadInput, NotAllowed, NotFound, NousError
from nous.domain.events import SessionEnded, episode_id
from nous.domain.fact import Confirmed, Learned
from nous.domain.scope import Scope
from nous.jobs.rq.worker_stats import workers_seen
from nous.services.publisher import Producer, Published
from nous.services.session_intake import AT_ONCE, SessionMetadata
from nous.services.session_lifecycle import ChainStep, all_at_rest, follow
from nous.store.base import NO_VECTORS
from nous.text.sanitize import one_line, shortened
from nous.transcript.detect import UnknownFormat
from nous.transcript.discovery import below

_LONGEST = 32
"""Characters of an outcome in the table; `nous status SESSION` shows all of it."""

_NONE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOutcome:
    """Outcome of one session, with the number of facts that it added, and that it confirmed.

    Facts that it added when it was published before, and was shorter, count too.
    """

    words: str
    name: str
    is_new: bool
    has_episode: bool
    learned: int = 0
    known: int = 0

    @property
    def facts(self) -> str:
        parts = ((self.learned, counted(self.learned, "fact")), (self.known, f"{self.known:,} known"))
        return ", ".join(words for count, words in parts if count) or ("none" if self.has_episode else _NONE)


def outcomes(
    container: Container, submitted: Sequence[tuple[str, Published]], chains: Mapping[UUID, Sequence[ChainStep]]
) -> Iterator[str]:
    """Yield a table with the current outcome of each submitted session, and a line of totals.

    *chains* are the steps that each event has caused so far, by event id.
    """
    found = list(_found(container, submitted, chains))
    yield table(("outcome", "facts", "session"), ((each.words, each.facts, each.name) for each in found))
    learned, known = sum(each.learned for each in found), sum(each.known for each in found)
    new = sum(each.is_new for each in found)
    kinds = Counter(each.words.partition(":")[0] for each in found).most_common()
    some_new = "" if new == len(found) else f", {new:,} new"
    became = ", ".join(f"{count:,} {what}" for what, count in kinds)
    yield f"{counted(len(found), 'session')}{some_new}: {became}; {counted(learned, 'fact')}, {known:,} known"


def _found(
    container: Container, submitted: Sequence[tuple[str, Published]], chains: Mapping[UUID, Sequence[ChainStep]]
) -> Iterator[SessionOutcome]:
    learned, known = _facts_of(container, {published.event.scope for _, published in submitted})
    for each in _by_session(submitted).values():
        own = {published.event.id: chains.get(published.event.id, ()) for _, published in each}
        event = each[0][1].event
        # A session that goes on may have an episode, but only of its earlier state.
        found = container.memory.episodes.get(event.scope, episode_id(event.scope, event.session_id))
        episode = found if isinstance(event, SessionEnded) else None
        yield SessionOutcome(
            words=_in_words(tuple(own.values()), episode),
            name=_name(dict.fromkeys(path for path, _ in each), episode),
            is_new=any(published.receipt.fresh for _, published in each),
            has_episode=episode is not None,
            learned=len(learned[episode.id]) if episode else 0,
            known=len(known[episode.id] - learned[episode.id]) if episode else 0,
        )


def _facts_of(
    container: Container, scopes: Iterable[Scope]
) -> tuple[Mapping[UUID, set[UUID]], Mapping[UUID, set[UUID]]]:
    """Return the facts that each episode said first, and those that it confirmed, by episode id."""
    learned, known = defaultdict[UUID, set[UUID]](set), defaultdict[UUID, set[UUID]](set)
    for scope in scopes:
        for row in container.memory.facts.read(scope, embedder=NO_VECTORS).rows:
            match row:
                case Learned(fact=fact):
                    learned[fact.source.episode_id].add(fact.id)
                case Confirmed(source=source):
                    known[source.episode_id].add(row.fact_id)
                case _:
                    pass
    return learned, known


def _by_session(submitted: Sequence[tuple[str, Published]]) -> Mapping[str, Sequence[tuple[str, Published]]]:
    """Group the *submitted* sessions of one scope by id: two files may hold the same session."""
    found = defaultdict[str, list[tuple[str, Published]]](list)
    for path, published in submitted:
        found[published.event.session_id].append((path, published))
    return found


def _name(paths: Iterable[str], episode: Episode | None) -> str:
    if episode is None:
        return ", ".join(paths)
    return f"{episode.summary.title} ({', '.join(Path(path).name for path in paths)})"


def troubles(
    submitted: Sequence[tuple[str, Published]],
    chains: Mapping[UUID, Sequence[ChainStep]],
    *,
    missing: Collection[str] = (),
) -> Iterator[str]:
    """Yield failed sessions with their reasons, *missing* workers, and the number of late ones."""
    for path, published in {published.event.id: (path, published) for path, published in submitted}.values():
        for step in chains.get(published.event.id, ()):
            if step.has_failed:
                why = f"{step.location.where}: {in_words(step.location.reason)}"
                yield f"{path}, session {published.event.session_id}: {why}"
    yield from (f"work waits for {name}, which no process runs: nous worker {name}" for name in sorted(missing))
    if late := sum(not all_at_rest(chain) for chain in chains.values()):
        yield f"{late} not finished yet; `nous status SESSION` shows where it is"


def _in_words(chains: Sequence[Sequence[ChainStep]], episode: Episode | None) -> str:
    """Return what stopped a session, or else its outcome, in a few words."""
    first = [step for chain in chains for step in chain[:1] if step.location.where is EventStatus.SKIPPED]
    skipped = first[:1] if len(first) == len(chains) else []
    steps = [step for chain in chains for step in chain]
    for step in (*skipped, *(step for step in steps if step.has_failed or not step.is_at_rest)):
        why = f": {in_words(step.location.reason)}" if step.location.reason else ""
        return shortened(f"{step.location.where}{why}", _LONGEST)
    if not all(chains):
        return str(EventStatus.WAITING)
    return str(episode.summary.outcome) if episode else str(EventStatus.DONE)


_POLL_INTERVAL = 0.2
"""Seconds between two polls: producers get no notification when a session is finished."""

_RESTART = 5.0
"""Seconds for which a worker may be absent: a process that restarts is not missed."""


def awaited(container: Container, published: Sequence[Published], *, timeout: float) -> dict[UUID, list[ChainStep]]:
    """Poll each session's steps until all are finished, or *timeout* seconds have passed.

    It gives up earlier if only workers are left that no process runs, though others run. Returns the steps by event
    id. Each session is polled at least once.
    """
    deadline, unattended_since = time.monotonic() + timeout, None
    chains: dict[UUID, list[ChainStep]] = {}
    each_once = list({each.event.id: each for each in published}.values())
    waiting = each_once
    while waiting:
        for each in waiting:
            chains[each.event.id] = list(
                follow(
                    each.event.id, type(each.event), workers=container.workers, delivery_stats=container.delivery_stats
                )
            )
        waiting = [each for each in waiting if not all_at_rest(chains[each.event.id])]
        _show_progress(len(each_once) - len(waiting), len(each_once))
        now = time.monotonic()
        left = _waited_for(chains.values())
        unattended_since = (unattended_since or now) if left and left <= unattended(container, left) else None
        if now >= deadline or (unattended_since is not None and now - unattended_since >= _RESTART):
            break
        if waiting:
            time.sleep(_POLL_INTERVAL)
    return chains


def unattended(container: Container, names: Collection[str]) -> frozenset[str]:
    """Return the workers among *names* that no process runs.

    None are returned where no process runs any worker, or where this user may not see them.
    """
    if not names:
        return frozenset()
    try:
        queues = {queue for each in workers_seen(container.rq_client, container.job_names) for queue in each.queues}
    except NotAllowed:
        return frozenset()
    return frozenset(name for name in names if queues and container.job_names.own(name) not in queues)


def _waited_for(chains: Iterable[Sequence[ChainStep]]) -> set[str]:
    return {step.worker for chain in chains for step in chain if not step.is_at_rest}


def has_failed(chains: dict[UUID, list[ChainStep]]) -> bool:
    """Return whether a session is dead or parked, or was not finished in time."""
    return any(step.has_failed or not step.is_at_rest for chain in chains.values() for step in chain)


def _show_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{done}/{total} sessions", err=True, nl=done == total)


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--session", help="Id of the session, if the file has none or a different one.")
@click.option("--agent", default="default", help="Id of the agent whose session it is.")
@click.option("--format", "format_", help="Read the files as this format instead of detecting it.")
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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def publish(  # noqa: PLR0913 (a command's options are its parameters)
    ctx: click.Context,
    paths: Sequence[str],
    *,
    scope: str,
    session: str | None,
    agent: str,
    format_: str | None,
    compacting: bool,
    upload: bool,
    bulk: bool,
    again: bool,
    durable: bool,
    wait: bool,
    timeout: float,
    as_json: bool,
) -> None:
    """Submit sessions that have ended. Each PATH is a session file, in any format, or a folder.

    Publishing is idempotent: a session is processed again only if it has grown. A file that cannot be used is reported,
    and the others are published. Workers read the files later, so save piped input to a file first.
    """
    app: App = ctx.obj
    _check_one_session(session, paths)
    of = Scope.parse(scope)
    about = SessionMetadata(scope=of, agent_id=agent, session_id=session, format=format_, compacting=compacting)
    container = build(app.settings)
    failures: list[NousError] = []
    how = {"upload": upload, "durable": durable, "priority": Priority.BULK if bulk else Priority.LIVE, "again": again}
    submitted = list(_publish_all(producer_of(container), paths, failures, about=about, **how))
    if submitted and not _is_worker_running(container):
        _warn("no worker runs yet; `nous up` or `nous worker` will process them")
    steps, text = _waited(container, submitted, failures, timeout=timeout if wait else None)
    if as_json:
        print_json([_row(path, each, steps.get(each.event.id, [])) for path, each in submitted])
    elif submitted:
        say(text)
    for trouble in troubles(submitted, steps, missing=unattended(container, _waited_for(steps.values()))):
        _warn(trouble)
    ctx.exit(exit_code(failures[0]) if failures else FAILED if has_failed(steps) else 0)


def _check_one_session(session: str | None, paths: Sequence[str]) -> None:
    if session is not None and (len(paths) > 1 or Path(paths[0]).is_dir()):
        raise BadInput(f"--session {session} names one session, and several files were given; publish each alone")


def _waited(
    container: Container,
    submitted: Sequence[tuple[str, Published]],
    failures: list[NousError],
    *,
    timeout: float | None,
) -> tuple[dict[UUID, list[ChainStep]], str]:
    """Wait for the *submitted* sessions; return their steps, and a table of their outcomes.

    If this user may not see outcomes, there are no steps, and the table shows what was published.
    """
    if timeout is None:
        return {}, _published_table(submitted)
    try:
        steps = awaited(container, [each for _, each in submitted], timeout=timeout)
        return steps, "\n".join(outcomes(container, submitted, steps))
    except NotAllowed as error:
        failures.append(NotAllowed(f"the outcome of these cannot be waited for, they are published: {error}"))
        _warn(str(failures[-1]))
        return {}, _published_table(submitted)


def _publish_all(
    producer: Producer, paths: Sequence[str], failures: list[NousError], **how: Any
) -> Iterator[tuple[str, Published]]:
    """Publish the sessions at *paths*; report failures on stderr and add them to *failures*."""
    for path in paths:
        try:
            if not path:
                raise BadInput("the name of a file is empty")
            if path == "-":
                raise BadInput(f"- is standard input; {AT_ONCE}")
            if Path(path).is_dir():
                yield from _publish_folder(producer, Path(path), **how)
            else:
                yield from ((path, published) for published in producer.publish(Path(path), warn=_warn, **how))
        except NousError as error:
            failures.append(error)
            about = "" if path in str(error) else f"{path}: "
            hint = "; `nous dev formats` lists what it can" if isinstance(error, UnknownFormat) else ""
            say(one_line(f"nous: {about}{error}{hint}"), err=True)


def _publish_folder(producer: Producer, folder: Path, **how: Any) -> Iterator[tuple[str, Published]]:
    """Publish every session file below *folder*, and count the files that hold none.

    Raises:
        BadInput: no file holds a session.
    """
    count, refused = 0, list[str]()
    for path in below(folder, lambda place, reason: _warn(f"{place} cannot be read: {reason}")):
        try:
            for published in producer.publish(path, warn=_warn, **how):
                count += 1
                yield str(path), published
        except (BadInput, NotFound) as error:
            refused.append(f"{path.name}: {error}")
    hint = f"`nous dev formats {shlex.quote(str(folder))}` says why"
    if not count:
        raise BadInput(f"no file in {folder} holds a session that can be published; {hint}")
    if refused:
        _warn(f"{counted(len(refused), 'file')} in {folder} cannot be published, such as {refused[0]}; {hint}")


def _is_worker_running(container: Container) -> bool:
    """Return whether a worker runs; True if this user may only publish and cannot see workers."""
    try:
        return bool(workers_seen(container.rq_client, container.job_names))
    except NotAllowed:
        return True


def _warn(what: str) -> None:
    say(one_line(f"nous: {what}"), err=True)


def _published_table(submitted: Sequence[tuple[str, Published]]) -> str:
    cells = ((each.event.session_id, _when(each), path) for path, each in submitted)
    return table(("session", "published", "file"), cells)


def _row(path: str, each: Published, steps: Sequence[ChainStep]) -> dict[str, Any]:
    return {
        "path": path,
        "session": each.event.session_id,
        "event": str(each.event.id),
        "published": _when(each),
        "steps": [{"worker": s.worker, "where": s.location.where, "why": s.location.reason} for s in steps],
    }


def _when(published: Published) -> str:
    return "now" if published.receipt.fresh else "before"
