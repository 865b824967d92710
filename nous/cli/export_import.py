"""`nous export` and `nous import`: what is remembered as JSON lines."""

import sys
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copymode
from typing import BinaryIO
from uuid import uuid4

import click

from nous.app import World, build
from nous.bus.base import Lane, Refused
from nous.cli.framework import BAD_INPUT, App, named, opened
from nous.cli.import_ import Imported, Importer, in_time, lines_of, usable
from nous.cli.lookup import scopes_named
from nous.cli.output import counted, say
from nous.domain.effects import Effects, SaveEpisode
from nous.domain.episode import Episode
from nous.domain.errors import BadInput
from nous.domain.fact import Learned, Row
from nous.domain.scope import Scope
from nous.facts.candidate_filter import without_candidates
from nous.facts.events import unembedded_episodes
from nous.jobs.rq.worker_stats import workers_seen
from nous.store.base import NO_VECTORS
from nous.store.export_format import TORN, Carried, exported, line
from nous.text.sanitize import one_line
from nous.transcript.io.byte_source import Tap

_MOST_COMPLAINTS = 5
"""Lines that cannot be used, of which it is told why."""


@click.command(name="export")
@click.argument("target", default="-", metavar="[FILE]")
@click.option("--scope", multiple=True, help="Only this scope; may be given again. Without it, all of them.")
@click.pass_obj
def export_(app: App, target: str, *, scope: Sequence[str]) -> None:
    """Write episodes and facts to FILE or standard output, a JSON line each, with where each came from.

    Vectors, transcripts and answers of models are left out. `nous import` reads the lines, here or elsewhere.
    """
    world = build(app.settings)
    scopes, counts = scopes_named(world, scope), Counter[type]()
    with written(target) as stream:
        for each in scopes:
            for carried in _records(world, each):
                stream.write(line(carried))
                counts[type(carried.record)] += 1
    say(f"nous: {_counted(counts)} exported", err=True)


@contextmanager
def written(target: str) -> Generator[BinaryIO]:
    """The file *target*, put there once it is whole, or standard output where it is `-`.

    It gets the permissions of the file whose place it takes.

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
    """Says that *target* could not be written, as `BadInput`."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{target} could not be written: {error.strerror}") from error


def _counted(counts: Counter[type]) -> str:
    rows = sum(count for kind, count in counts.items() if kind is not Episode)
    return f"{counted(counts[Episode], 'episode')} and {counted(rows, 'row')} with {counted(counts[Learned], 'fact')}"


def _records(world: World, scope: Scope) -> Iterator[Carried]:
    for episode in reversed(world.kit.episodes.recent(scope, limit=10**9)):
        yield Carried(scope, episode)
    for row in exported(world.kit.facts.read(scope, embedder=NO_VECTORS).rows):
        yield Carried(scope, row)


@click.command(name="import")
@click.argument("source", default="-", metavar="[FILE]")
@click.pass_context
def import_(ctx: click.Context, source: str) -> None:
    """Read what `nous export` wrote, from FILE or standard input, be it packed with gzip or Zstandard.

    What is there already stays as it is, so importing twice adds nothing; what was forgotten stays forgotten. A worker
    makes vectors by the embedder that is set here, and compares facts with those that are known. Of lines that
    cannot be used the first few are reported, and the others counted; the rest are taken all the same. A time that is
    more than a day ahead is taken as now.
    """
    app: App = ctx.obj
    world = build(app.settings)
    episodes: list[Episode] = []
    rows: defaultdict[Scope, list[Row]] = defaultdict(list)
    ahead, complaints = 0, Complaints()
    with opened(source) as stream:
        content = Tap.on(stream)
        for found in usable(lines_of(content.buffered()), complaints.take):
            carried, late = in_time(found, world.kit.clock())
            ahead += late
            if isinstance(carried.record, Episode):
                episodes.append(carried.record)
            else:
                rows[carried.scope].append(carried.record)
    complaints.close(source, damage=content.damage, is_all=not (episodes or rows))
    gone = sum(_is_forgotten(world, episode) for episode in episodes)
    counts = Counter[type]({Episode: sum(keep(world, episode) for episode in episodes)})
    _announce(world, episodes)
    imports = [Importer(world, scope, found).run() for scope, found in rows.items()]
    counts = sum((each.added for each in imports), counts)
    say(f"{_counted(counts)} were new; what was there already stayed as it is")
    for warning in _warnings(world, counts, imports, episodes_gone=gone, ahead=ahead):
        say(f"nous: {warning}", err=True)
    ctx.exit(BAD_INPUT if complaints.count or any(each.unknown for each in imports) else 0)


class Complaints:
    """Tells people of the first lines that cannot be used, and counts all of them."""

    def __init__(self) -> None:
        self.count = 0
        self._has_torn = False

    def take(self, what: str) -> None:
        """Count a line that cannot be used; the first few are told."""
        self.count += 1
        self._has_torn |= what.endswith(TORN)
        if self.count <= _MOST_COMPLAINTS:
            say(f"nous: {what}", err=True)

    def close(self, source: str, *, damage: str | None, is_all: bool) -> None:
        """Tell how many more there were, the *damage* of packed data, and what it means if that *is all* of *source*.

        Of records that are torn, and of packed data that is damaged, nobody can say that they were no export.
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
    world: World, counts: Counter[type], imports: Sequence[Imported], *, episodes_gone: int, ahead: int
) -> Iterator[str]:
    """What was left out or changed, and what is still to come."""
    if ahead:
        yield f"{counted(ahead, 'time')} in the future {'was' if ahead == 1 else 'were'} taken as now"
    if unknown := sum(each.unknown for each in imports):
        yield f"left out were rows about facts that nobody has: {unknown}"
    told = sum(each.forgotten for each in imports)
    if episodes_gone or told:
        what = f"{counted(episodes_gone, 'episode')} and {counted(told, 'telling')} of facts"
        yield f"left out was what was forgotten here: {what}"
    if waiting := [noun for noun, kind in (("facts", Learned), ("episodes", Episode)) if counts[kind]]:
        when = "a worker makes them" if workers_seen(world.rq_client, world.job_names) else "no worker runs: nous up"
        yield f"the {' and '.join(waiting)} wait for vectors; {when}"


def keep(world: World, episode: Episode) -> bool:
    """Whether *episode* was stored, but for what was forgotten of it; where there is one of that session it stays."""
    while not (world.kit.episodes.get(episode.scope, episode.id) or _is_forgotten(world, episode)):
        wanted = without_candidates(episode, world.kit.forgotten(episode.scope))
        if not isinstance(world.bus.apply(Effects(writes=(SaveEpisode(episode=wanted),))), Refused):
            return True
    return False


def _announce(world: World, episodes: Iterable[Episode]) -> None:
    """Have workers embed *episodes*; also where none was new: an import that was cut off had published nothing yet."""
    states: defaultdict[Scope, set[str]] = defaultdict(set)
    for each in episodes:
        states[each.scope].add(f"{each.id} {each.state}")
    for scope, found in sorted(states.items()):
        event = unembedded_episodes(scope, state="\n".join(sorted(found)), at=world.kit.clock())
        world.bus.publish(event, lane=Lane.BULK)


def _is_forgotten(world: World, episode: Episode) -> bool:
    return world.tombstones.find(episode.scope, str(episode.id)) is not None
