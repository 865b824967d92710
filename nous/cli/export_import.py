"""Write stored episodes and facts as JSON lines; read such lines and store missing records."""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copymode
from typing import BinaryIO
from uuid import uuid4

import click

from nous.app.container import Container
from nous.bus.base import Conflict, Priority
from nous.bus.tombstones import session_name
from nous.cli.facts import candidate
from nous.cli.framework import BAD_INPUT, App, opened, scopes_option
from nous.cli.lookup import ALL, scopes_named
from nous.cli.output import counted, note, say
from nous.domain.effects import AppendFacts, Effects, SaveEpisode
from nous.domain.episode import Episode, episode_id
from nous.domain.errors import BadInput, Retryable
from nous.domain.events import EpisodesUnembedded, FactsUnembedded
from nous.domain.fact import Confirmed, Learned, Row, occurrences
from nous.domain.scope import Scope, checked_name
from nous.jobs.rq.worker_stats import workers_seen
from nous.knowledge.candidate_filter import without_candidates
from nous.knowledge.decision import unembedded
from nous.knowledge.import_merge import AT_ONCE, MergeResult, merge_rows
from nous.store.base import NO_VECTORS
from nous.store.export_format import ExportedRecords, exported, line, read
from nous.store.fact_rows import continuation
from nous.transcript.io.byte_source import ByteSource

_MOST_COMPLAINTS = 5  # unusable lines that are reported with a reason; further ones are only counted
_LONGEST_LINE = 10_000_000
_SAID = ("text", "category", "subject", "confidence", "event_date")
_REFUSALS = 1000


@click.command(name="export")
@click.argument("target", default="-", metavar="[FILE]")
@scopes_option
@click.pass_obj
def export_(app: App, target: str, *, scope: Sequence[Scope]) -> None:
    """Write episodes and facts to FILE or standard output, one JSON line each.

    Vectors, transcripts and model answers are left out. `nous import` reads the lines, here or elsewhere.
    """
    scopes, counts = scopes_named(app.container, scope), Counter[type]()
    context = app.container.memory
    with written(target) as stream:
        for each in scopes:
            rows = exported(context.facts.read(each, embedder=NO_VECTORS).rows)
            for record in (*reversed(context.episodes.recent(each, limit=ALL)), *rows):
                stream.write(line(ExportedRecords(each, record)))
                counts[type(record)] += 1
    note(f"{_counted(counts)} exported")


@contextmanager
def written(target: str) -> Generator[BinaryIO]:
    """Open *target* for writing, or standard output if it is `-`.

    The file appears once it is complete. It gets the permissions of the file that it replaces. Raises `BadInput` if it
    cannot be written.
    """
    if target == "-":
        yield sys.stdout.buffer
        return
    path = Path(target).resolve()
    is_file = path.is_file() or not path.exists()  # a pipe must not be replaced by a file
    part = path.with_name(f"{path.name}.{uuid4().hex[:8]}.part") if is_file else path
    try:
        with part.open("wb") as stream:
            if path.is_file():
                copymode(path, part)
            yield stream
        part.replace(path)
    except OSError as error:
        raise BadInput(f"{target} could not be written: {error.strerror}") from error
    finally:
        if is_file:
            part.unlink(missing_ok=True)


def _counted(counts: Mapping[type, int]) -> str:
    rows = sum(count for kind, count in counts.items() if kind is not Episode)
    episodes, facts = counts.get(Episode, 0), counts.get(Learned, 0)
    return f"{counted(episodes, 'episode')} and {counted(rows, 'row')} with {counted(facts, 'fact')}"


@click.command(name="import")
@click.argument("source", default="-", metavar="[FILE]")
@click.pass_obj
def import_(app: App, source: str) -> None:
    """Read what `nous export` wrote, from FILE or standard input.

    The input may be packed with gzip or Zstandard. Existing records stay as they are, so importing is idempotent.
    Forgotten records stay forgotten. Workers compute vectors, and compare the facts with known ones. Unusable lines do
    not stop the import: the first few are reported, and further ones are counted.
    """
    container, refused = app.container, list[str]()
    episodes: list[Episode] = []
    rows: defaultdict[Scope, list[Row]] = defaultdict(list)
    with opened(source) as stream:
        content = ByteSource.on(stream)
        for found in usable(content.buffered(), refused.append):
            if isinstance(found.record, Episode):
                episodes.append(found.record)
            else:
                rows[found.scope].append(found.record)
    if content.damage:
        refused.append(f"{content.damage}; what comes before the damage is taken")
    _complain(refused, is_all=not (episodes or rows))
    gone = sum(_is_forgotten(container, episode) for episode in episodes)
    counts = Counter[type]({Episode: sum(keep(container, episode) for episode in episodes)})
    announce(container, episodes)
    imports = [add_rows(container, scope, found) for scope, found in rows.items()]
    counts = sum((added for added, _ in imports), counts)
    say(f"{_counted(counts)} were new; existing records were not changed")
    if unknown := sum(found.unknown for _, found in imports):
        note(f"left out: {counted(unknown, 'row')} about unknown facts")
    mentions = sum(found.forgotten for _, found in imports)
    if gone or mentions:
        what = f"{counted(gone, 'episode')} and {counted(mentions, 'mention')} of facts"
        note(f"left out since they were forgotten here: {what}")
    if waiting := [noun for noun, kind in (("facts", Learned), ("episodes", Episode)) if counts[kind]]:
        is_worked_on = workers_seen(container.rq_client, container.job_names)
        when = "a worker computes them" if is_worked_on else "no worker runs: nous up"
        note(f"the {' and '.join(waiting)} wait for vectors; {when}")
    click.get_current_context().exit(BAD_INPUT if refused or unknown else 0)


def _complain(refused: Sequence[str], *, is_all: bool) -> None:
    for each in refused[:_MOST_COMPLAINTS]:
        note(each)
    if (more := len(refused) - _MOST_COMPLAINTS) > 0:
        note(f"{counted(more, 'more line')} cannot be used")
    if is_all:
        note("there is no record of `nous export` in it")


def usable(stream: BinaryIO, complain: Callable[[str], None]) -> Iterator[ExportedRecords]:
    """Yield the records in the lines of *stream*; report unusable lines by number to *complain*.

    Raises `BadInput` if a line is longer than any record: the rest is not read.
    """
    number = 0
    while raw := stream.readline(_LONGEST_LINE + 1):
        number += 1
        if len(raw) > _LONGEST_LINE:
            raise BadInput(f"line {number} has more than {_LONGEST_LINE:,} bytes, and no record has that many")
        try:
            if said := raw.strip():
                yield _checked(read(said))
        except BadInput as error:
            complain(f"line {number}: {error}")


def _checked(carried: ExportedRecords) -> ExportedRecords:
    """Return *carried* in the form in which it is stored. Raises `BadInput`."""
    record = carried.record
    owner = record.scope if isinstance(record, Episode) else record.fact.scope if isinstance(record, Learned) else None
    if owner and owner != carried.scope:
        raise BadInput(f"the line is of scope {carried.scope}, its record of {owner}")
    for _, source, _ in () if isinstance(record, Episode) else occurrences([record]):
        checked_name(source.session_id, "session_id")
    match record:
        case Episode():
            checked_name(record.session_id, "session_id")
            checked_name(record.agent_id, "agent_id")
            if record.id != episode_id(carried.scope, record.session_id):
                raise BadInput("its id is not that of its session in this scope, by which it would be forgotten")
        case Learned(fact=fact):
            said = {name: getattr(fact, name) for name in _SAID}
            found = candidate({**said, "turns": fact.source.turns, "trust": fact.source.trust})
            record = replace(record, fact=replace(fact, text=found.text, category=found.category))
        case Confirmed():
            found = candidate({"text": record.text, "turns": record.source.turns})
            record = replace(record, text=found.text)
        case _:
            pass
    return replace(carried, record=record)


def keep(container: Container, episode: Episode) -> bool:
    """Store *episode* without forgotten facts; false if its session has one or was forgotten."""
    while not (container.memory.episodes.get(episode.scope, episode.id) or _is_forgotten(container, episode)):
        wanted = without_candidates(episode, container.tombstones.forms(episode.scope))
        if not isinstance(container.bus.apply(Effects(writes=(SaveEpisode(episode=wanted),))), Conflict):
            return True
    return False


def _is_forgotten(container: Container, episode: Episode) -> bool:
    return container.tombstones.find(episode.scope, str(episode.id)) is not None


def announce(container: Container, episodes: Iterable[Episode]) -> None:
    """Have workers embed *episodes*, also known ones: an interrupted import announced none."""
    states: defaultdict[Scope, set[str]] = defaultdict(set)
    for each in episodes:
        states[each.scope].add(f"{each.id} {each.state}")
    for scope, found in sorted(states.items()):
        event = unembedded(EpisodesUnembedded, scope, state="\n".join(sorted(found)), at=container.clock())
        container.bus.publish(event, priority=Priority.BULK)


def add_rows(container: Container, scope: Scope, rows: Sequence[Row]) -> tuple[Counter[type], MergeResult]:
    """Add the rows that the log of *scope* lacks.

    Return how many of each kind, and what was left out. Forgotten facts stay forgotten. Raises `Retryable` if other
    writers keep adding or forgetting facts.
    """
    added = Counter[type]()
    for _ in range(_REFUSALS):
        log, forgotten = container.memory.facts.read(scope, embedder=NO_VECTORS), container.tombstones.forms(scope)
        found = merge_rows(rows, log.rows, forgotten=forgotten, gone=_gone(container, scope, rows))
        version = log.version
        for start in range(0, len(found.rows), AT_ONCE):
            write = AppendFacts(scope=scope, expected=version, rows=found.rows[start : start + AT_ONCE])
            if isinstance(container.bus.apply(Effects(writes=(write,))), Conflict):
                break
            added.update(map(type, write.rows))
            version = continuation(write).version
        else:
            # Also if nothing was new: an interrupted import may have published nothing yet.
            if any(isinstance(row, Learned) for row in rows):
                container.bus.publish(unembedded(FactsUnembedded, scope, state=str(version), at=container.clock()))
            return added, found
    raise Retryable(f"other writers keep changing the facts of {scope}; import again, nothing is stored twice")


def _gone(container: Container, scope: Scope, rows: Sequence[Row]) -> Collection[str]:
    sessions = {each.source.session_id for each in occurrences(rows)}
    return {each for each in sessions if container.tombstones.find(scope, session_name(scope, each))}
