"""`nous export` and `nous import`: episodes and facts as JSON lines."""

import sys
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copymode
from typing import BinaryIO
from uuid import uuid4

import click

from nous.app.container import Container, build
from nous.bus.base import Conflict, Priority
from nous.cli.framework import BAD_INPUT, App
from nous.cli.import_ import Imported, Importer, in_time, lines_of, usable
from nous.cli.input_files import named, opened
from nous.cli.lookup import scopes_named
from nous.cli.output import counted, say
from nous.domain.effects import Effects, SaveEpisode
from nous.domain.episode import Episode
from nous.domain.errors import BadInput
from nous.domain.fact import Learned, Row
from nous.domain.scope import Scope
from nous.jobs.rq.worker_stats import workers_seen
from nous.knowledge.candidate_filter import without_candidates
from nous.knowledge.events import unembedded_episodes
from nous.store.base import NO_VECTORS
from nous.store.export_format import TORN, ExportedRecords, exported, line
from nous.text.sanitize import one_line
from nous.transcript.io.byte_source import ByteSource

_MOST_COMPLAINTS = 5
"""Unusable lines that are reported with a reason; further ones are only counted."""


@click.command(name="export")
@click.argument("target", default="-", metavar="[FILE]")
@click.option("--scope", multiple=True, help="Only this scope. Repeat it for several. Default: all scopes.")
@click.pass_obj
def export_(app: App, target: str, *, scope: Sequence[str]) -> None:
    """Write episodes and facts to FILE or standard output, one JSON line each.

    Each line holds its origin. Vectors, transcripts and model answers are left out. `nous import` reads the lines, here
    or elsewhere.
    """
    container = build(app.settings)
    scopes, counts = scopes_named(container, scope), Counter[type]()
    with written(target) as stream:
        for each in scopes:
            for carried in _records(container, each):
                stream.write(line(carried))
                counts[type(carried.record)] += 1
    say(f"nous: {_counted(counts)} exported", err=True)


@contextmanager
def written(target: str) -> Generator[BinaryIO]:
    """Open *target* for writing, or standard output if it is `-`.

    The file appears once it is complete. It gets the permissions of the file that it replaces.

    Raises:
        BadInput: it cannot be written.
    """
    if target == "-":
        yield sys.stdout.buffer
        return
    path = Path(target).resolve()
    is_file = path.is_file() or not path.exists()  # a pipe must not be replaced by a file
    part = path.with_name(f"{path.name}.{uuid4().hex[:8]}.part") if is_file else path
    with _refused(target):
        stream = part.open("wb")
    try:
        with stream:
            if is_file and path.exists():
                copymode(path, part)
            yield stream
        with _refused(target):
            part.replace(path)
    except BaseException:
        if is_file:
            part.unlink()
        raise


@contextmanager
def _refused(target: str) -> Generator[None]:
    """Raise `BadInput` if *target* cannot be written."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{target} could not be written: {error.strerror}") from error


def _counted(counts: Counter[type]) -> str:
    rows = sum(count for kind, count in counts.items() if kind is not Episode)
    return f"{counted(counts[Episode], 'episode')} and {counted(rows, 'row')} with {counted(counts[Learned], 'fact')}"


def _records(container: Container, scope: Scope) -> Iterator[ExportedRecords]:
    for episode in reversed(container.memory.episodes.recent(scope, limit=10**9)):
        yield ExportedRecords(scope, episode)
    for row in exported(container.memory.facts.read(scope, embedder=NO_VECTORS).rows):
        yield ExportedRecords(scope, row)


@click.command(name="import")
@click.argument("source", default="-", metavar="[FILE]")
@click.pass_context
def import_(ctx: click.Context, source: str) -> None:
    """Read what `nous export` wrote, from FILE or standard input.

    The input may be packed with gzip or Zstandard. Existing records stay as they are, so importing is idempotent.
    Forgotten records stay forgotten. Workers compute vectors with the embedder configured here, and compare the facts
    with known ones. Unusable lines do not stop the import: the first few are reported, and further ones are counted. A
    time that is more than a day in the future is replaced by the current time.
    """
    app: App = ctx.obj
    container = build(app.settings)
    episodes: list[Episode] = []
    rows: defaultdict[Scope, list[Row]] = defaultdict(list)
    ahead, complaints = 0, Complaints()
    with opened(source) as stream:
        content = ByteSource.on(stream)
        for found in usable(lines_of(content.buffered()), complaints.take):
            carried, late = in_time(found, container.context.clock())
            ahead += late
            if isinstance(carried.record, Episode):
                episodes.append(carried.record)
            else:
                rows[carried.scope].append(carried.record)
    complaints.close(source, damage=content.damage, is_all=not (episodes or rows))
    gone = sum(_is_forgotten(container, episode) for episode in episodes)
    counts = Counter[type]({Episode: sum(keep(container, episode) for episode in episodes)})
    _announce(container, episodes)
    imports = [Importer(container, scope, found).run() for scope, found in rows.items()]
    counts = sum((each.added for each in imports), counts)
    say(f"{_counted(counts)} were new; existing records were not changed")
    for warning in _warnings(container, counts, imports, episodes_gone=gone, ahead=ahead):
        say(f"nous: {warning}", err=True)
    ctx.exit(BAD_INPUT if complaints.count or any(each.unknown for each in imports) else 0)


class Complaints:
    """Reporter of unusable lines: prints the first few on standard error, and counts all."""

    def __init__(self) -> None:
        self.count = 0
        self._has_torn = False

    def take(self, what: str) -> None:
        """Count an unusable line, and print it if it is one of the first few."""
        self.count += 1
        self._has_torn |= what.endswith(TORN)
        if self.count <= _MOST_COMPLAINTS:
            say(f"nous: {what}", err=True)

    def close(self, source: str, *, damage: str | None, is_all: bool) -> None:
        """Print how many more lines were unusable, and the *damage* of packed data.

        If nothing of *source* could be used (*is_all*), say that it is no export. Torn records and damaged data are
        exempt, since they may well have been part of one.
        """
        if (more := self.count - _MOST_COMPLAINTS) > 0:
            say(f"nous: {counted(more, 'more line')} cannot be used", err=True)
        if damage:
            self.count += 1
            say(one_line(f"nous: {named(source)}: {damage}; what comes before the damage is taken"), err=True)
        elif is_all and not self._has_torn:
            why = (
                "is not what `nous export` wrote: none of its lines is a record" if self.count else "has nothing in it"
            )
            say(one_line(f"nous: {named(source)} {why}"), err=True)


def _warnings(
    container: Container, counts: Counter[type], imports: Sequence[Imported], *, episodes_gone: int, ahead: int
) -> Iterator[str]:
    """Yield warnings about records that were left out or changed, and about pending work."""
    if ahead:
        yield f"{counted(ahead, 'time')} in the future {'was' if ahead == 1 else 'were'} taken as now"
    if unknown := sum(each.unknown for each in imports):
        yield f"left out: {counted(unknown, 'row')} about unknown facts"
    mentions = sum(each.forgotten for each in imports)
    if episodes_gone or mentions:
        what = f"{counted(episodes_gone, 'episode')} and {counted(mentions, 'mention')} of facts"
        yield f"left out since they were forgotten here: {what}"
    if waiting := [noun for noun, kind in (("facts", Learned), ("episodes", Episode)) if counts[kind]]:
        when = (
            "a worker computes them"
            if workers_seen(container.rq_client, container.job_names)
            else "no worker runs: nous up"
        )
        yield f"the {' and '.join(waiting)} wait for vectors; {when}"


def keep(container: Container, episode: Episode) -> bool:
    """Store *episode* without its forgotten candidate facts; return whether it was stored.

    It is not stored if its session has an episode already, or was forgotten.
    """
    while not (container.memory.episodes.get(episode.scope, episode.id) or _is_forgotten(container, episode)):
        wanted = without_candidates(episode, container.context.suppressed(episode.scope))
        if not isinstance(container.bus.apply(Effects(writes=(SaveEpisode(episode=wanted),))), Conflict):
            return True
    return False


def _announce(container: Container, episodes: Iterable[Episode]) -> None:
    """Have workers embed *episodes*.

    This also happens if none is new, since an interrupted import may have published nothing yet.
    """
    states: defaultdict[Scope, set[str]] = defaultdict(set)
    for each in episodes:
        states[each.scope].add(f"{each.id} {each.state}")
    for scope, found in sorted(states.items()):
        event = unembedded_episodes(scope, state="\n".join(sorted(found)), at=container.context.clock())
        container.bus.publish(event, priority=Priority.BULK)


def _is_forgotten(container: Container, episode: Episode) -> bool:
    return container.tombstones.find(episode.scope, str(episode.id)) is not None
