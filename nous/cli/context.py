"""`nous context`: what a new session is told."""

from typing import Any
from uuid import UUID

import click

from nous.cli.frame import App
from nous.cli.knowing import elsewhere
from nous.cli.show import counted, print_json, say
from nous.embed.absent import present
from nous.episode import Trust
from nous.fact import LinkKind
from nous.kit import Kit
from nous.learning.known import Earlier, KnownFact
from nous.learning.settling import offers
from nous.recall.context import LONGEST, Notes, arranged, block, facts_told, left_out, ranked
from nous.recall.hits import Filters, Remembrance
from nous.recall.library import Library
from nous.recall.query import asked
from nous.recall.search import search
from nous.recall.shelf import Shelf
from nous.recall.trivial import is_trivial
from nous.scope import Scope
from nous.wiring import build


@click.command()
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--query", default="", help="What the session begins with: facts about it come first.")
@click.option(
    "--budget", default=LONGEST, type=click.IntRange(1, LONGEST), show_default=True, help="Characters of the block."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the block, and how many facts were left out of it.")
@click.pass_obj
def context(app: App, *, scope: str, query: str, budget: int, as_json: bool) -> None:
    """Print what a new session should know: the last session in short, and facts, as notes that fit a budget.

    The block is headed as notes, not instructions, and marked so that nothing in it can end it. Nothing is printed
    where nothing is known, and a query such as "ok" or "/commit" is not searched for. Facts that only a tool or a page
    has said are left out, and counted on standard error. Of a possible update the newer fact comes first, and of two
    possible duplicates one comes last.
    """
    world, within = build(app.settings), Scope.parse(scope)
    notes, doubted = _gathered(world.kit, within, query)
    told = block(notes, budget=budget)
    if as_json:
        print_json({"block": told, "left_out": doubted, "facts": _objects(notes, budget)})
    elif told:
        say(told)
    if not (notes.facts or notes.episode or notes.anchor or doubted):
        say(f"nous: nothing is known in {scope}{elsewhere(world, within)}", err=True)
    if query.strip() and is_trivial(query):
        say(f"nous: {query!r} names nothing to look for: the order is the usual one", err=True)
    if not told and block(notes):
        say(f"nous: no note fits into {budget:,} characters", err=True)
    if doubted:
        verb = "is" if doubted == 1 else "are"
        say(f"nous: {counted(doubted, 'fact')} that only a tool or page has said {verb} left out", err=True)


def _gathered(kit: Kit, scope: Scope, query: str) -> tuple[Notes, int]:
    """What there is to tell, and how many facts are not to be told."""
    embedder = present(kit.embedder)
    question = asked("", None) if is_trivial(query) else asked(query, embedder.embed)
    with kit.memory.shelf(kit.facts, scope, embedder) as shelf:
        only = Filters(kinds=(Remembrance.FACT,), trust=Trust.ASSISTANT)
        hits = search(question, Library(shelf=shelf, only=only), limit=50) if question.text else ()
        pairs = offers(shelf.knowledge)
        facts = arranged(_in_order(shelf, [hit.id for hit in hits if hit.superseded_by is None]), pairs)
        before = ((known.fact.id, shelf.knowledge.earlier(known.fact.id)) for known in facts if known.replaces)
        earlier = {fact_id: found[0] for fact_id, found in before if found}
        doubted = left_out(shelf.knowledge)
    episode, anchor = next(iter(kit.episodes.recent(scope, 1)), None), kit.anchors.latest(scope)
    is_newer = anchor and (episode is None or anchor.at >= episode.ended_at)
    last = anchor if is_newer else None
    return Notes(facts=facts, earlier=earlier, offers=pairs, anchor=last, episode=episode), doubted


def _objects(notes: Notes, budget: int) -> list[dict[str, Any]]:
    """The facts of the block as JSON: what was true before, and what each may replace."""
    replaceable = {each.newer.fact.id: each.older for each in notes.offers if each.link.kind is LinkKind.UPDATE}
    return [
        {
            "id": known.fact.id,
            "text": known.fact.text,
            "earlier": _earlier_object(notes.earlier.get(known.fact.id)),
            "may_replace": old.fact.id if (old := replaceable.get(known.fact.id)) else None,
        }
        for known in facts_told(notes, budget=budget)
    ]


def _earlier_object(earlier: Earlier | None) -> dict[str, Any] | None:
    return {"id": earlier.known.fact.id, "text": earlier.known.fact.text, "until": earlier.until} if earlier else None


def _in_order(shelf: Shelf, found: list[UUID]) -> list[KnownFact]:
    """What was *found*, best first, and then what any session wants."""
    first = [shelf.knowledge[fact_id] for fact_id in found]
    return [*first, *(known for known in ranked(shelf.knowledge) if known.fact.id not in found)]
