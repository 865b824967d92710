"""`nous export` and `nous import`: what is remembered as JSON lines."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import BinaryIO, cast

import click

from nous.bus.base import Refused
from nous.bus.tombstones import session_name
from nous.cli.frame import BAD_INPUT, App
from nous.cli.reading import opened
from nous.effects import AppendFacts, Effects, SaveEpisode
from nous.episode import CandidateFact, Episode
from nous.errors import BadInput, Retryable
from nous.fact import Fact, Learned, Row
from nous.jobs.rq.census import workers_seen
from nous.learning.announcing import unembedded
from nous.learning.erasing import without_session
from nous.learning.normalise import exact_form
from nous.learning.usable import usable
from nous.scope import Scope
from nous.store.base import NO_VECTORS
from nous.store.erasure import without_candidates
from nous.store.portable import Carried, exported, line, missing, read, told
from nous.wiring import World, build

_ROWS_AT_ONCE = 500
_REFUSALS = 100


@click.command(name="export")
@click.argument("target", default="-", metavar="[FILE]", type=click.File("wb", atomic=True))
@click.option("--scope", multiple=True, help="Only this scope; may be given again. Without it, all of them.")
@click.pass_obj
def export_(app: App, target: BinaryIO, *, scope: Sequence[str]) -> None:
    """Write episodes and facts to FILE or standard output, a JSON line each, with where each came from.

    Vectors, transcripts and answers of models are left out. `nous import` reads the lines, here or elsewhere.
    """
    world = build(app.settings)
    counts: Counter[str] = Counter()
    for each in [Scope.parse(one) for one in scope] or world.kit.episodes.scopes():
        for carried in _records(world, each):
            target.write(line(carried))
            counts["episodes" if isinstance(carried.record, Episode) else "rows of facts"] += 1
    click.echo(f"nous: {counts['episodes']} episodes and {counts['rows of facts']} rows of facts exported", err=True)


def _records(world: World, scope: Scope) -> Iterator[Carried]:
    for episode in reversed(world.kit.episodes.recent(scope, limit=10**9)):
        yield Carried(scope, episode)
    for row in exported(world.kit.facts.read(scope, embedder=NO_VECTORS).rows):
        yield Carried(scope, row)


@click.command(name="import")
@click.argument("source", default="-", metavar="[FILE]")
@click.pass_context
def import_(ctx: click.Context, source: str) -> None:
    """Read what `nous export` wrote, from FILE or standard input.

    What is there already stays as it is, so importing twice adds nothing; what was forgotten stays forgotten. Facts get
    vectors by the embedder that is set here, and are compared with those that are known, by a worker. A line that
    cannot be used is reported, and the others are taken all the same.
    """
    app: App = ctx.obj
    world = build(app.settings)
    episodes: list[Episode] = []
    rows: defaultdict[Scope, list[Row]] = defaultdict(list)
    complaints = 0
    with opened(source) as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                carried = _checked(read(raw)) if raw.strip() else None
            except BadInput as error:
                complaints += 1
                click.echo(f"nous: line {number}: {error}", err=True)
                continue
            match carried:
                case Carried(record=Episode() as episode):
                    episodes.append(episode)
                case Carried(scope=scope, record=record):
                    rows[scope].append(cast("Row", record))
                case None:
                    pass
    kept = sum(_keep(world, episode) for episode in episodes)
    facts = sum(_append(world, scope, found) for scope, found in rows.items())
    click.echo(f"{kept} episodes and {facts} facts were new; what was there already stayed as it is")
    if facts:
        when = "a worker makes them" if workers_seen(world.rq_client) else "no worker runs: nous up"
        click.echo(f"nous: the facts wait for vectors; {when}", err=True)
    ctx.exit(BAD_INPUT if complaints else 0)


def _checked(carried: Carried) -> Carried:
    """*carried*, if it can be kept. Raises `BadInput`."""
    owner = _scope_of(carried.record)
    if owner and owner != carried.scope:
        raise BadInput(f"the line is of scope {carried.scope}, its record of {owner}")
    said = None if isinstance(carried.record, Episode) else told(carried.record)
    dropped = usable([CandidateFact(text=said[1])], cap=1).dropped if said else ()
    for reason, _ in dropped:
        raise BadInput(f"text: {reason}")
    return carried


def _scope_of(record: Episode | Row) -> Scope | None:
    match record:
        case Episode(scope=scope) | Learned(fact=Fact(scope=scope)):
            return scope
        case _:
            return None


def _keep(world: World, episode: Episode) -> bool:
    """Whether *episode* was stored, but for what was forgotten of it; where there is one of that session it stays."""
    if world.kit.episodes.get(episode.scope, episode.id) or world.tombstones.find(episode.scope, str(episode.id)):
        return False
    wanted = without_candidates(episode, world.kit.forgotten(episode.scope))
    return not isinstance(world.bus.apply(Effects(writes=(SaveEpisode(episode=wanted),))), Refused)


def _append(world: World, scope: Scope, rows: Sequence[Row]) -> int:
    """How many facts *rows* have added to the log of *scope*; what was forgotten there stays forgotten."""
    added, wanted = 0, _retold(world, scope, rows)
    for start in range(0, len(wanted), _ROWS_AT_ONCE):
        added += _appended(world, scope, wanted[start : start + _ROWS_AT_ONCE])
    if added:
        state = str(world.kit.facts.read(scope, embedder=NO_VECTORS).version)
        world.bus.publish(unembedded(scope, state=state, at=world.kit.clock()))
    return added


def _retold(world: World, scope: Scope, rows: Sequence[Row]) -> Sequence[Row]:
    """What *rows* add to the log, told without forgotten sessions: by others who have said the same."""
    log = world.kit.facts.read(scope, embedder=NO_VECTORS).rows
    both: tuple[Row, ...] = (*log, *missing(rows, log))
    for session in sorted(_gone(world, scope, rows)):
        both = tuple(kept.row for kept in without_session(both, session).rows)
    return tuple(missing(both, log))


def _gone(world: World, scope: Scope, rows: Sequence[Row]) -> set[str]:
    """The forgotten sessions that *rows* quote, whether they were published or told by hand."""
    sessions = {said[0].session_id for said in map(told, rows) if said}
    return {each for each in sessions if world.tombstones.find(scope, session_name(scope, each))}


def _appended(world: World, scope: Scope, rows: Sequence[Row]) -> int:
    for _ in range(_REFUSALS):
        log = world.kit.facts.read(scope, embedder=NO_VECTORS)
        # Asked after the log was read: whoever forgets later makes the log anew, and the write is refused.
        fresh = tuple(missing(_without_forgotten(world, scope, rows), log.rows))
        write = AppendFacts(scope=scope, expected=log.version, rows=fresh)
        if not fresh:
            return 0
        if not isinstance(world.bus.apply(Effects(writes=(write,))), Refused):
            return sum(isinstance(row, Learned) for row in fresh)
    raise Retryable(f"{scope} is being taught by others without a pause; import again, what is there is not doubled")


def _without_forgotten(world: World, scope: Scope, rows: Sequence[Row]) -> Iterator[Row]:
    """*rows* but those that a forgotten session or a forgotten text has left."""
    forms, gone = world.kit.forgotten(scope), _gone(world, scope, rows)
    for row in rows:
        said = told(row)
        if said is None or not (said[0].session_id in gone or exact_form(said[1]) in forms):
            yield row
