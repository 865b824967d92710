"""`nous why`: how a fact is known."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Any

import click

from nous.cli.frame import App
from nous.cli.knowing import checked_beginning, knowledge_of, one_of
from nous.cli.show import counted, print_json, say
from nous.errors import NotFound
from nous.fact import Source
from nous.readable import one_line, shortened
from nous.recall.why import GAVE_WAY, Grounds, Relative, Telling, grounds, named
from nous.scope import Scope
from nous.wiring import World, build


@click.command()
@click.argument("fact")
@click.option(
    "--scope", help="project, agent/project or tenant/agent/project; without it, every scope is looked through."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def why(app: App, fact: str, *, scope: str | None, as_json: bool) -> None:
    """Show how FACT is known: its id as `nous facts` prints it, or the beginning of it.

    Every session that said it, in which turns and words, what read it there, and why it was merged with others, took
    their place, gave way to them, or was kept beside them.
    """
    world = build(app.settings)
    found = _found(fact, world, [Scope.parse(scope)] if scope else list(world.kit.episodes.scopes()))
    if as_json:
        print_json(_as_object(found))
    else:
        say("\n".join(_lines(found)))


def _found(name: str, world: World, scopes: list[Scope]) -> Grounds:
    checked_beginning(name)
    for scope in scopes:
        with knowledge_of(world, scope) as knowledge:
            if len(scopes) == 1 or named(name, knowledge):
                known = one_of(name, knowledge, world, scope)
                return grounds(known.fact.id, knowledge, partial(world.kit.briefs.brief, scope))
    raise NotFound(f"there is no fact {name!r} in any scope")


def _lines(found: Grounds) -> Iterator[str]:
    known, fact = found.known, found.known.fact
    yield one_line(fact.text)
    about = f" about {one_line(fact.subject)}" if fact.subject else ""
    kind = f"{'an' if fact.category[0] in 'aeiou' else 'a'} {fact.category} fact"
    yield f"  {kind}{about} in {fact.scope}, said by {counted(known.times_confirmed, 'session')}; {_state(found)}"
    yield f"  {fact.id}"
    below = {(each.at, each.reason): f"it {each.relation} another, see below" for each in found.relatives}
    for number, telling in enumerate(found.tellings):
        reason = below.get((telling.at, telling.reason), telling.reason)
        yield from _telling(replace(telling, reason=reason), is_first=number == 0)
    for relative in found.relatives:
        yield from _relative(relative)


def _state(found: Grounds) -> str:
    known = found.known
    if known.is_current:
        return f"true since {_day(known.valid_from)}, as far as is known"
    until = known.superseded.valid_to if known.superseded else None
    return f"true until {_day(until)}, then corrected" if until else "superseded by other words for it"


def _telling(telling: Telling, *, is_first: bool) -> Iterator[str]:
    near = "" if telling.similarity is None else f" (cosine {telling.similarity:.2f})"
    yield f"\n{'learned' if is_first else 'said again'} {_day(telling.at)}: {one_line(telling.reason)}{near}"
    if not is_first:
        yield f"  in the words: {one_line(telling.text)}"
    yield from (f"  {line}" for line in _place(telling.source))
    yield from (f"  > {shortened(quote, 320)}" for quote in telling.quotes)


def _place(source: Source) -> Iterator[str]:
    turns = f", turn {', '.join(map(str, source.turns))}" if source.turns else ""
    said = f", which ended {source.said_at:%Y-%m-%d %H:%M} UTC" if source.said_at else ""
    yield f"session {source.session_id}{turns}{said}; {source.trust}'s words"
    yield f"episode {source.episode_id}, event {source.event_id}"
    if source.digest or source.by:
        yield f"transcript sha256 {source.digest or 'unknown'}, read by: {source.by or 'unknown'}"


def _relative(relative: Relative) -> Iterator[str]:
    """Of two facts that cannot both be true, `valid_to` is until when the older one was."""
    reason = one_line(relative.reason)
    hand = f" (by hand, on {_day(relative.at)})" if relative.by_hand else ""
    if relative.relation == GAVE_WAY:
        yield f"\ngave way on {_day(relative.valid_to or relative.at)} to {relative.fact_id}: {reason}{hand}"
    else:
        until = f", which was true until {_day(relative.valid_to)}" if relative.valid_to else ""
        likely = "" if relative.likelihood is None else f" (likelihood {relative.likelihood:.2f})"
        yield f"\n{relative.relation} {relative.fact_id}{until}{likely}: {reason}{hand}"
    yield f"  {shortened(relative.text, 300)}"


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else "an unknown day"


def _as_object(found: Grounds) -> dict[str, Any]:
    known = found.known
    return {
        "fact": asdict(known.fact),
        "current": known.is_current,
        "times_confirmed": known.times_confirmed,
        "trust": known.trust,
        "valid_from": known.valid_from,
        "valid_to": known.superseded.valid_to if known.superseded else None,
        "said": [asdict(telling) for telling in found.tellings],
        "relations": [asdict(relative) for relative in found.relatives],
    }
