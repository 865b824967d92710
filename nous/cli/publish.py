"""`nous publish`: hand sessions over, and if asked, wait for what becomes of them."""

import shlex
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from nous.app import World, build
from nous.app.services import producer_of
from nous.bus.accounting import Whereabouts
from nous.bus.base import Lane
from nous.cli.framework import FAILED, App, exit_code
from nous.cli.output import counted, in_words, print_json, say, table
from nous.domain.episode import Episode
from nous.domain.errors import BadInput, NotAllowed, NousError
from nous.domain.events import SessionEnded, episode_id
from nous.domain.fact import Confirmed, Learned
from nous.domain.scope import Scope
from nous.jobs.rq.worker_stats import workers_seen
from nous.services.publisher import Producer, Published
from nous.services.session_intake import AT_ONCE, About
from nous.services.session_lifecycle import Step, all_at_rest, follow
from nous.store.base import NO_VECTORS
from nous.text.sanitize import one_line, shortened
from nous.transcript.detect import UnknownFormat

_LONGEST = 32
"""Characters of what became of one; `nous status SESSION` tells all of it."""

_NONE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a session: in words, with how many facts it taught, and how many it said that were known.

    Those that it taught when it was published before, and was shorter, are counted too.
    """

    words: str
    name: str
    is_new: bool
    has_episode: bool
    learned: int = 0
    known: int = 0

    @property
    def facts(self) -> str:
        told = ((self.learned, counted(self.learned, "fact")), (self.known, f"{self.known:,} known"))
        return ", ".join(words for count, words in told if count) or ("none" if self.has_episode else _NONE)


def outcomes(
    world: World, handed_over: Sequence[tuple[str, Published]], chains: Mapping[UUID, Sequence[Step]]
) -> Iterator[str]:
    """A row for each session of those *handed over*, as far as their *chains* of steps have come, and the sums."""
    found = list(_found(world, handed_over, chains))
    yield table(("outcome", "facts", "session"), ((each.words, each.facts, each.name) for each in found))
    learned, known = sum(each.learned for each in found), sum(each.known for each in found)
    new = sum(each.is_new for each in found)
    kinds = Counter(each.words.partition(":")[0] for each in found).most_common()
    some_new = "" if new == len(found) else f", {new:,} new"
    became = ", ".join(f"{count:,} {what}" for what, count in kinds)
    yield f"{counted(len(found), 'session')}{some_new}: {became}; {counted(learned, 'fact')}, {known:,} known"


def _found(
    world: World, handed_over: Sequence[tuple[str, Published]], chains: Mapping[UUID, Sequence[Step]]
) -> Iterator[Outcome]:
    learned, known = _facts_of(world, {published.event.scope for _, published in handed_over})
    for each in _by_session(handed_over).values():
        own = {published.event.id: chains.get(published.event.id, ()) for _, published in each}
        event = each[0][1].event
        # A session that goes on has an episode, if at all, of what it was before.
        found = world.kit.episodes.get(event.scope, episode_id(event.scope, event.session_id))
        episode = found if isinstance(event, SessionEnded) else None
        yield Outcome(
            words=_in_words(tuple(own.values()), episode),
            name=_name(dict.fromkeys(path for path, _ in each), episode),
            is_new=any(published.receipt.fresh for _, published in each),
            has_episode=episode is not None,
            learned=len(learned[episode.id]) if episode else 0,
            known=len(known[episode.id] - learned[episode.id]) if episode else 0,
        )


def _facts_of(world: World, scopes: Iterable[Scope]) -> tuple[Mapping[UUID, set[UUID]], Mapping[UUID, set[UUID]]]:
    """The facts that each episode was the first to say, and those that it said and others had said before."""
    learned, known = defaultdict[UUID, set[UUID]](set), defaultdict[UUID, set[UUID]](set)
    for scope in scopes:
        for row in world.kit.facts.read(scope, embedder=NO_VECTORS).rows:
            match row:
                case Learned(fact=fact):
                    learned[fact.source.episode_id].add(fact.id)
                case Confirmed(source=source):
                    known[source.episode_id].add(row.fact_id)
                case _:
                    pass
    return learned, known


def _by_session(handed_over: Sequence[tuple[str, Published]]) -> Mapping[str, Sequence[tuple[str, Published]]]:
    """Those *handed over*, which are of one scope, by session: two files may be of one."""
    found = defaultdict[str, list[tuple[str, Published]]](list)
    for path, published in handed_over:
        found[published.event.session_id].append((path, published))
    return found


def _name(paths: Iterable[str], episode: Episode | None) -> str:
    if episode is None:
        return ", ".join(paths)
    return f"{episode.summary.title} ({', '.join(Path(path).name for path in paths)})"


def troubles(
    handed_over: Sequence[tuple[str, Published]], chains: Mapping[UUID, Sequence[Step]], *, timeout: float
) -> Iterator[str]:
    """Of each that has failed, which session it is, and all of the reason; of those that are late, how many."""
    for path, published in {published.event.id: (path, published) for path, published in handed_over}.values():
        for step in chains.get(published.event.id, ()):
            if step.has_failed:
                why = f"{step.location.where}: {in_words(step.location.reason)}"
                yield f"{path}, session {published.event.session_id}: {why}"
    if late := sum(not all_at_rest(chain) for chain in chains.values()):
        yield f"{late} not dealt with after {timeout:g} s; `nous status SESSION` says where it is"


def _in_words(chains: Sequence[Sequence[Step]], episode: Episode | None) -> str:
    """What stopped it, if anything did; else how the session ended for the person who asked."""
    first = [step for chain in chains for step in chain[:1] if step.location.where is Whereabouts.SKIPPED]
    skipped = first[:1] if len(first) == len(chains) else []
    steps = [step for chain in chains for step in chain]
    for step in (*skipped, *(step for step in steps if step.has_failed or not step.is_at_rest)):
        why = f": {in_words(step.location.reason)}" if step.location.reason else ""
        return shortened(f"{step.location.where}{why}", _LONGEST)
    if not all(chains):
        return str(Whereabouts.WAITING)
    return str(episode.summary.outcome) if episode else str(Whereabouts.DONE)


_LOOK = 0.2
"""Seconds between two looks; nothing tells a producer when a session has come to rest."""


def awaited(world: World, published: Sequence[Published], *, timeout: float) -> dict[UUID, list[Step]]:
    """Each session's steps, by event id, once all have come to rest or *timeout* seconds have passed.

    It looks at each at least once.
    """
    deadline = time.monotonic() + timeout
    chains: dict[UUID, list[Step]] = {}
    each_once = list({each.event.id: each for each in published}.values())
    waiting = each_once
    while waiting:
        for each in waiting:
            chains[each.event.id] = list(
                follow(each.event.id, type(each.event), workers=world.workers, ledger=world.ledger)
            )
        waiting = [each for each in waiting if not all_at_rest(chains[each.event.id])]
        _tell_progress(len(each_once) - len(waiting), len(each_once))
        if time.monotonic() >= deadline:
            break
        if waiting:
            time.sleep(_LOOK)
    return chains


def has_failed(chains: dict[UUID, list[Step]]) -> bool:
    """Whether a session is dead or parked, or had not come to rest in time."""
    return any(step.has_failed or not step.is_at_rest for chain in chains.values() for step in chain)


def _tell_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{done}/{total} sessions", err=True, nl=done == total)


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--session", help="The session's id, where the file does not say it, or says another.")
@click.option("--agent", default="default", help="The id of the agent whose session it is.")
@click.option("--format", "format_", help="Read the files as this format instead of telling it from their content.")
@click.option("--compacting", is_flag=True, help="The session goes on; its agent is about to forget the beginning.")
@click.option("--upload", is_flag=True, help="Send what the files say along, for workers on other hosts.")
@click.option("--bulk", is_flag=True, help="Old sessions: they come after those that have just ended.")
@click.option("--again", is_flag=True, help="Let sessions back that were forgotten.")
@click.option("--durable", is_flag=True, help="Wait until the server's disk has each event.")
@click.option("--wait", is_flag=True, help="Wait until each is dealt with; exit 1 if one failed, or was not in time.")
@click.option(
    "--timeout",
    default=600.0,
    type=click.FloatRange(min=0),
    show_default=True,
    help="How long to --wait, in seconds; with 0 it looks once.",
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
    """Hand over sessions that have ended, each PATH a file with a transcript in any format that nous reads.

    Publishing a session again adds nothing, unless it has grown. A file that cannot be used is reported and the others
    are published all the same. Workers read them later, so save in one what comes from a pipe.
    """
    app: App = ctx.obj
    if session is not None and len(paths) > 1:
        raise BadInput(f"--session {session} names one session, and {len(paths)} files were given; publish each alone")
    about = About(scope=Scope.parse(scope), agent_id=agent, session_id=session, format=format_, compacting=compacting)
    world = build(app.settings)
    failures: list[NousError] = []
    how = {"upload": upload, "durable": durable, "lane": Lane.BULK if bulk else Lane.LIVE, "again": again}
    handed_over = list(_hand_over(producer_of(world), paths, failures, about=about, **how))
    if handed_over and not _is_anybody_there(world):
        _warn("no worker runs yet; `nous up` or `nous worker` will deal with them")
    steps, told = _waited(world, handed_over, failures, timeout=timeout) if wait else ({}, _told(handed_over))
    if as_json:
        print_json([_row(path, each, steps.get(each.event.id, [])) for path, each in handed_over])
    elif handed_over:
        say(told)
    for trouble in troubles(handed_over, steps, timeout=timeout):
        _warn(trouble)
    ctx.exit(exit_code(failures[0]) if failures else FAILED if has_failed(steps) else 0)


def _waited(
    world: World, handed_over: Sequence[tuple[str, Published]], failures: list[NousError], *, timeout: float
) -> tuple[dict[UUID, list[Step]], str]:
    """The steps of those *handed over*, and a table of what became of each, as far as this user may see that."""
    try:
        steps = awaited(world, [each for _, each in handed_over], timeout=timeout)
        return steps, "\n".join(outcomes(world, handed_over, steps))
    except NotAllowed as error:
        failures.append(NotAllowed(f"what becomes of these cannot be waited for, they are published: {error}"))
        _warn(str(failures[-1]))
        return {}, _told(handed_over)


def _hand_over(
    producer: Producer, paths: Sequence[str], failures: list[NousError], **how: Any
) -> Iterator[tuple[str, Published]]:
    """Publish what can be published; what cannot be is told on stderr and kept in *failures*."""
    for path in paths:
        try:
            if not path:
                raise BadInput("the name of a file is empty")
            if path == "-":
                raise BadInput(f"- is standard input; {AT_ONCE}")
            if Path(path).is_dir():
                folder = shlex.quote(str(Path(path)))
                how_to = f"`nous formats {folder}` says which can be read"
                raise BadInput(f"{path} is a directory; name the files in it, as {folder}/*; {how_to}")
            yield from ((path, published) for published in producer.publish(Path(path), warn=_warn, **how))
        except NousError as error:
            failures.append(error)
            about = "" if path in str(error) else f"{path}: "
            hint = "; `nous formats` lists what it can" if isinstance(error, UnknownFormat) else ""
            say(one_line(f"nous: {about}{error}{hint}"), err=True)


def _is_anybody_there(world: World) -> bool:
    """Whether a worker runs; who may only publish is not told, and supposes so."""
    try:
        return bool(workers_seen(world.rq_client, world.job_names))
    except NotAllowed:
        return True


def _warn(what: str) -> None:
    say(one_line(f"nous: {what}"), err=True)


def _told(handed_over: Sequence[tuple[str, Published]]) -> str:
    cells = ((each.event.session_id, _when(each), path) for path, each in handed_over)
    return table(("session", "published", "file"), cells)


def _row(path: str, each: Published, steps: Sequence[Step]) -> dict[str, Any]:
    return {
        "path": path,
        "session": each.event.session_id,
        "event": str(each.event.id),
        "published": _when(each),
        "steps": [{"worker": s.worker, "where": s.location.where, "why": s.location.reason} for s in steps],
    }


def _when(published: Published) -> str:
    return "now" if published.receipt.fresh else "before"
