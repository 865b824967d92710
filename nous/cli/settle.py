"""Commands that settle pairs of facts: duplicates, merge, keep-apart, supersede, unsettle."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple, ParamSpec

import click

from nous.app.container import Container, build
from nous.bus.base import Conflict
from nous.cli.framework import App
from nous.cli.lookup import elsewhere, fact_lines, fact_object, knowledge_of, one_of
from nous.cli.output import print_json, say
from nous.domain.effects import AppendFacts, Effects
from nous.domain.errors import BadInput, Retryable
from nous.domain.fact import LinkKind, Row, Superseded
from nous.domain.scope import Scope
from nous.knowledge.events import unembedded
from nous.knowledge.fact_index import FactIndex, KnownFact
from nous.knowledge.precedence import superseding
from nous.knowledge.settling import OpenPair, keeping_apart, merging, open_pairs, unsettling
from nous.text.sanitize import one_line, shortened

_REFUSALS = 100
_LONGEST_REASON = 1000
"""Characters of a reason."""

P = ParamSpec("P")
_SCOPE = click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")


def _because(default: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    return click.option(
        "--because", default=default, show_default=True, help="The reason, which `nous provenance` shows."
    )


class Settled(NamedTuple):
    """Two facts before the change, and the rows that were written."""

    one: KnownFact
    other: KnownFact
    rows: tuple[Row, ...]


@click.command()
@_SCOPE
@click.option(
    "--limit", default=20, type=click.IntRange(min=1), show_default=True, help="Show at most this many pairs."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def duplicates(app: App, *, scope: str, limit: int, as_json: bool) -> None:
    """List pairs of current facts that are possible duplicates or updates, likeliest first.

    `facts merge`, `facts keep-apart` or `facts supersede` settles a pair and removes it from the list.
    """
    container, within = build(app.settings), Scope.parse(scope)
    with knowledge_of(container, within) as knowledge:
        found = open_pairs(knowledge)
        shown = found[:limit]
        if as_json:
            print_json([_offer_object(offer, knowledge) for offer in shown])
        else:
            say(
                "\n\n".join("\n".join(_offer_lines(offer, knowledge)) for offer in shown) or _nothing(container, within)
            )
    if len(found) > limit:
        say(f"nous: there are {len(found):,}, and these are {limit}; --limit shows more", err=True)


def _nothing(container: Container, scope: Scope) -> str:
    return f"no possible duplicates in {scope}{elsewhere(container, scope)}"


def _offer_lines(offer: OpenPair, knowledge: FactIndex) -> Iterator[str]:
    link = offer.link
    likely = "" if link.likelihood is None else f" (likelihood {link.likelihood:.2f})"
    kind = "possible update" if link.kind is LinkKind.UPDATE else "possible duplicate"
    yield f"{kind}{likely}: {one_line(link.reason)}"
    for known in (offer.newer, offer.older):
        yield from (f"  {line}" for line in fact_lines(known, knowledge))


def _offer_object(offer: OpenPair, knowledge: FactIndex) -> dict[str, Any]:
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
    """Replace fact OLD by fact NEW. Give ids that `nous facts` prints, or id prefixes.

    OLD stays, and is shown as true until then. It is no longer current, and new facts are not compared with it. `facts
    unsettle` reverts this.
    """

    def decide(gone: KnownFact, by: KnownFact, **facts: Any) -> tuple[Row, ...]:
        return (superseding(gone.fact.id, by=by.fact.id, **facts),)

    found = _settled(app, (old, new), scope, because, decide)
    _print_result("superseded", found.one, "by", found.other)


@click.command()
@click.argument("fact")
@click.argument("into")
@_SCOPE
@_because("a person says that they are the same")
@click.pass_obj
def merge(app: App, fact: str, into: str, *, scope: str, because: str) -> None:
    """Merge FACT into INTO, which says the same. Give ids that `nous facts` prints, or prefixes.

    INTO stays current, in its own words. Sessions that said FACT count as sources of INTO from now on, and so do those
    that say FACT again. FACT stays readable. `facts unsettle` reverts the merge.
    """
    found = _settled(app, (fact, into), scope, because, merging)
    _print_result("merged" if found.rows else "already merged", found.one, "into", found.other)


@click.command("keep-apart")
@click.argument("one")
@click.argument("other")
@_SCOPE
@_because("a person says that they are two")
@click.pass_obj
def keep_apart(app: App, one: str, other: str, *, scope: str, because: str) -> None:
    """Keep facts ONE and OTHER apart for good. Give ids that `nous facts` prints, or prefixes.

    They are no longer listed as duplicates, and neither rules nor a model merge them. `facts unsettle` reverts this.
    """
    found = _settled(app, (one, other), scope, because, keeping_apart)
    _print_result("kept apart" if found.rows else "already kept apart", found.one, "from", found.other)


@click.command()
@click.argument("one")
@click.argument("other")
@_SCOPE
@_because("a person took it back")
@click.pass_obj
def unsettle(app: App, one: str, other: str, *, scope: str, because: str) -> None:
    """Revert a merge, a replacement or a keep-apart between facts ONE and OTHER.

    Both are then as before. A merged fact is current again, with the sessions that said it in its words. You can also
    revert what rules or a model have merged or replaced.
    """
    found = _settled(app, (one, other), scope, because, unsettling)
    match found.rows:
        case (Superseded(fact_id=back), *_):
            is_one = found.one.fact.id == back
            _print_result(
                "current again", found.one if is_one else found.other, "beside", found.other if is_one else found.one
            )
        case (_, *_):
            _print_result("no longer kept apart", found.one, "from", found.other)
        case _:
            _print_result("nothing is settled between", found.one, "and", found.other)


def _print_result(done: str, one: KnownFact, preposition: str, other: KnownFact) -> None:
    say(f"{done}: {shortened(one.fact.text, 90)}\n  {preposition}: {shortened(other.fact.text, 90)}")


def _settled(
    app: App,
    names: tuple[str, str],
    scope: str,
    because: str,
    decide: Callable[..., tuple[Row, ...]],
) -> Settled:
    """Append the rows that *decide* returns for the two facts named; retry on conflict.

    Raises:
        NotFound, BadInput: a name is not that of one fact, both are the same, or *decide* refuses.
        Retryable: other writers kept changing the scope.
    """
    container, within = build(app.settings), Scope.parse(scope)
    for _ in range(_REFUSALS):
        with knowledge_of(container, within) as knowledge:
            one, other = (one_of(name, knowledge, container, within) for name in names)
            if one is other:
                raise BadInput(f"{names[0]} and {names[1]} are the same fact: {shortened(one.fact.text, 70)}")
            reason = shortened(one_line(because), _LONGEST_REASON)
            rows = decide(one, other, knowledge=knowledge, reason=reason, at=container.context.clock())
            effects = _effects(rows, knowledge, container, within)
        if not rows or not isinstance(container.bus.apply(effects), Conflict):
            return Settled(one, other, rows)
    raise Retryable(f"other writers keep changing the facts of {within}; try again")


def _effects(rows: tuple[Row, ...], knowledge: FactIndex, container: Container, scope: Scope) -> Effects:
    """Return the append, plus an embedding request if a fact without a vector is current again."""
    back = (row.fact_id for row in rows if isinstance(row, Superseded) and row.is_undone)
    waits = any(not knowledge[fact].is_embedded for fact in back)
    event = unembedded(scope, state=str(knowledge.version), at=container.context.clock())
    write = AppendFacts(scope=scope, expected=knowledge.version, rows=rows)
    return Effects(writes=(write,), events=(event,) if waits else ())
