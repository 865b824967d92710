"""`nous facts duplicates` and the commands by which a person settles how two facts stand to each other."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple, ParamSpec

import click

from nous.app import World, build
from nous.bus.base import Refused
from nous.cli.framework import App
from nous.cli.lookup import elsewhere, fact_lines, fact_object, knowledge_of, one_of
from nous.cli.output import print_json, say
from nous.domain.effects import AppendFacts, Effects
from nous.domain.errors import BadInput, Retryable
from nous.domain.fact import LinkKind, Row, Superseded
from nous.domain.scope import Scope
from nous.facts.events import unembedded
from nous.facts.fact_index import Knowledge, KnownFact
from nous.facts.precedence import superseding
from nous.facts.settling import Offer, keeping_apart, merging, offers, unsettling
from nous.text.sanitize import one_line, shortened

_REFUSALS = 100
_LONGEST_REASON = 1000
"""Characters of a reason."""

P = ParamSpec("P")
_SCOPE = click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")


def _because(default: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    return click.option("--because", default=default, show_default=True, help="The reason, as `nous why` will tell it.")


class Settled(NamedTuple):
    """Two facts as they were, and what had to be written."""

    one: KnownFact
    other: KnownFact
    rows: tuple[Row, ...]


@click.command()
@_SCOPE
@click.option("--limit", default=20, type=click.IntRange(min=1), show_default=True, help="At most so many pairs.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def duplicates(app: App, *, scope: str, limit: int, as_json: bool) -> None:
    """List pairs of current facts that may say the same, or of which one may replace the other; the likeliest first.

    `facts merge`, `facts keep-apart` or `facts supersede` settle a pair, which is then listed no more.
    """
    world, within = build(app.settings), Scope.parse(scope)
    with knowledge_of(world, within) as knowledge:
        found = offers(knowledge)
        shown = found[:limit]
        if as_json:
            print_json([_offer_object(offer, knowledge) for offer in shown])
        else:
            say("\n\n".join("\n".join(_offer_lines(offer, knowledge)) for offer in shown) or _nothing(world, within))
    if len(found) > limit:
        say(f"nous: there are {len(found):,}, and these are {limit}; --limit shows more", err=True)


def _nothing(world: World, scope: Scope) -> str:
    return f"no possible duplicates in {scope}{elsewhere(world, scope)}"


def _offer_lines(offer: Offer, knowledge: Knowledge) -> Iterator[str]:
    link = offer.link
    likely = "" if link.likelihood is None else f" (likelihood {link.likelihood:.2f})"
    kind = "possible update" if link.kind is LinkKind.UPDATE else "possible duplicate"
    yield f"{kind}{likely}: {one_line(link.reason)}"
    for known in (offer.newer, offer.older):
        yield from (f"  {line}" for line in fact_lines(known, knowledge))


def _offer_object(offer: Offer, knowledge: Knowledge) -> dict[str, Any]:
    return {
        **asdict(offer.link),
        "newer": fact_object(offer.newer, knowledge),
        "older": fact_object(offer.older, knowledge),
    }


@click.command()
@click.argument("old")
@click.argument("new")
@_SCOPE
@_because("a person says so")
@click.pass_obj
def supersede(app: App, old: str, new: str, *, scope: str, because: str) -> None:
    """Put fact NEW in the place of fact OLD: ids as `nous facts` prints them, or their beginnings.

    OLD stays, and is shown as true until then. It is left out of what is current, and of what new facts are
    compared with. `facts unsettle` takes it back.
    """

    def decide(gone: KnownFact, by: KnownFact, **facts: Any) -> tuple[Row, ...]:
        return (superseding(gone.fact.id, by=by.fact.id, **facts),)

    found = _settled(app, (old, new), scope, because, decide)
    _tell("superseded", found.one, "by", found.other)


@click.command()
@click.argument("fact")
@click.argument("into")
@_SCOPE
@_because("a person says that they are the same")
@click.pass_obj
def merge(app: App, fact: str, into: str, *, scope: str, because: str) -> None:
    """Merge FACT INTO another that says the same: ids as `nous facts` prints them, or their beginnings.

    INTO stays current, in its own words. Sessions that said FACT have said INTO from now on, and so will those that say
    FACT again. FACT stays readable; `facts unsettle` takes the merge back.
    """
    found = _settled(app, (fact, into), scope, because, merging)
    _tell("merged" if found.rows else "already merged", found.one, "into", found.other)


@click.command("keep-apart")
@click.argument("one")
@click.argument("other")
@_SCOPE
@_because("a person says that they are two")
@click.pass_obj
def keep_apart(app: App, one: str, other: str, *, scope: str, because: str) -> None:
    """Keep facts ONE and OTHER apart for good: ids as `nous facts` prints them, or their beginnings.

    They are offered as duplicates no more, and neither rules nor a model merge them. `facts unsettle` takes it back.
    """
    found = _settled(app, (one, other), scope, because, keeping_apart)
    _tell("kept apart" if found.rows else "already kept apart", found.one, "from", found.other)


@click.command()
@click.argument("one")
@click.argument("other")
@_SCOPE
@_because("a person took it back")
@click.pass_obj
def unsettle(app: App, one: str, other: str, *, scope: str, because: str) -> None:
    """Take back that facts ONE and OTHER were merged, that one gave way to the other, or that they are kept apart.

    Both are then as before: one that was merged is current again, with the sessions that said it in its words. It holds
    for what rules or a model have merged or replaced, too.
    """
    found = _settled(app, (one, other), scope, because, unsettling)
    match found.rows:
        case (Superseded(fact_id=back), *_):
            is_one = found.one.fact.id == back
            _tell("current again", found.one if is_one else found.other, "beside", found.other if is_one else found.one)
        case (_, *_):
            _tell("no longer kept apart", found.one, "from", found.other)
        case _:
            _tell("nothing is settled between", found.one, "and", found.other)


def _tell(done: str, one: KnownFact, preposition: str, other: KnownFact) -> None:
    say(f"{done}: {shortened(one.fact.text, 90)}\n  {preposition}: {shortened(other.fact.text, 90)}")


def _settled(
    app: App,
    names: tuple[str, str],
    scope: str,
    because: str,
    decide: Callable[..., tuple[Row, ...]],
) -> Settled:
    """Append what *decide* makes of the two facts that go by *names*: anew each time that others were faster.

    Raises:
        NotFound, BadInput: a name is not that of one fact, both are the same, or *decide* refuses.
        Retryable: others teach the same scope all the time.
    """
    world, within = build(app.settings), Scope.parse(scope)
    for _ in range(_REFUSALS):
        with knowledge_of(world, within) as knowledge:
            one, other = (one_of(name, knowledge, world, within) for name in names)
            if one is other:
                raise BadInput(f"{names[0]} and {names[1]} are the same fact: {shortened(one.fact.text, 70)}")
            reason = shortened(one_line(because), _LONGEST_REASON)
            rows = decide(one, other, knowledge=knowledge, reason=reason, at=world.kit.clock())
            effects = _effects(rows, knowledge, world, within)
        if not rows or not isinstance(world.bus.apply(effects), Refused):
            return Settled(one, other, rows)
    raise Retryable(f"{within} is being taught by others without a pause; try again")


def _effects(rows: tuple[Row, ...], knowledge: Knowledge, world: World, scope: Scope) -> Effects:
    """The append; and where a fact without a vector is current again, what has workers embed it."""
    back = (row.fact_id for row in rows if isinstance(row, Superseded) and row.is_undone)
    waits = any(not knowledge[fact].is_embedded for fact in back)
    event = unembedded(scope, state=str(knowledge.version), at=world.kit.clock())
    write = AppendFacts(scope=scope, expected=knowledge.version, rows=rows)
    return Effects(writes=(write,), events=(event,) if waits else ())
