"""`nous search`: search facts and episodes. `nous context`: print notes for a new session."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import click

from nous.cli.framework import App, json_option, limit_option, scope_option
from nous.cli.lookup import elsewhere
from nous.cli.memory_text import earlier_lines, place_text
from nous.cli.output import counted, day, note, render
from nous.domain.episode import Category
from nous.domain.fact import LinkKind
from nous.domain.scope import Scope
from nous.retrieval.context import LONGEST, ContextNotes, block, facts_told, is_trivial
from nous.retrieval.query import Filters, Hit, HitKind
from nous.services.memory import context_notes, search_memory
from nous.text.sanitize import one_line

_KINDS, _CATEGORIES = click.Choice([*map(str, HitKind)]), click.Choice([*map(str, Category)])
_TIME = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"])


def _utc(_: click.Context, __: click.Parameter, time: datetime | None) -> datetime | None:
    return time.replace(tzinfo=UTC) if time else None


@click.command()
@click.argument("query")
@scope_option
@limit_option(10)
@click.option("--kind", "kinds", multiple=True, type=_KINDS, help="Only facts, or only episodes.")
@click.option("--category", "categories", multiple=True, type=_CATEGORIES, help="Only facts of this category.")
@click.option("--after", type=_TIME, callback=_utc, help="Only what was said or ended after this time (UTC).")
@click.option("--before", type=_TIME, callback=_utc, help="Only what was said or ended before this time (UTC).")
@click.option("--all", "everything", is_flag=True, help="Include superseded facts, beside those that replaced them.")
@json_option
@click.pass_obj
def search(app: App, query: str, *, scope: Scope, limit: int, everything: bool, as_json: bool, **only: Any) -> None:
    """Search facts and episodes by words, by meaning and by the files they are about.

    Each hit shows how it was found. A query that is close to nothing finds nothing.
    """
    memory = app.container.memory
    found = search_memory(memory, query, scope, filters=Filters(**only), limit=limit, everything=everything)
    if found.is_scope_empty:
        note(f"nothing is known in {scope}; `nous status` says what waits{elsewhere(app.container, scope)}")
    if found.lacks:
        note(f"found by words and files alone: {found.lacks}")
    lines = (line for hit in found.hits for line in _hit_lines(hit))
    render(found.hits, lines, as_json=as_json, empty="nothing was found")


def _hit_lines(hit: Hit) -> Iterator[str]:
    yield f"{hit.kind:<8} {one_line(hit.text)}{'  (superseded)' if hit.superseded_by else ''}"
    yield from (f"         {line}" for line in earlier_lines(hit.earlier))
    if hit.superseded_by:
        until = f"until {day(hit.valid_to)}, then" if hit.valid_to else "now"
        yield f"         {until}: {hit.superseded_by}"
    yield f"         {hit.trust.word}'s words, {place_text(hit.session_id, hit.turns)}, {day(hit.date)}  {hit.id}"
    yield f"         by {'; by '.join(hit.found_by)}"


@click.command()
@scope_option
@click.option("--query", default="", help="How the session begins. Facts about it come first.")
@click.option("--budget", default=LONGEST, type=click.IntRange(1, LONGEST), show_default=True, help="In characters.")
@json_option
@click.pass_obj
def context(app: App, *, scope: Scope, query: str, budget: int, as_json: bool) -> None:
    """Print notes for a new session: the last session in short, and facts, within a budget.

    The block is headed as notes, not instructions. Text inside cannot fake its closing tag. If nothing is known,
    nothing is printed. Facts that only a tool or a page has said are left out, and counted on standard error.
    """
    notes, doubted = context_notes(app.container.memory, query, scope)
    text = block(notes, budget=budget)
    if text or as_json:
        render({"block": text, "left_out": doubted, "facts": _objects(notes, budget)}, [text], as_json=as_json)
    if not (notes.facts or notes.episode or notes.anchor or doubted):
        note(f"nothing is known in {scope}; `nous status` says what waits{elsewhere(app.container, scope)}")
    if query.strip() and is_trivial(query):
        note(f"{query!r} names nothing to look for: the order is the usual one")
    if not text and block(notes):
        note(f"no note fits into {budget:,} characters")
    if doubted:
        are = "is" if doubted == 1 else "are"
        note(f"{counted(doubted, 'fact')} that only a tool or page has said {are} left out")


def _objects(notes: ContextNotes, budget: int) -> Iterator[dict[str, Any]]:
    """Yield the facts of the block as JSON, with earlier values and the fact each may replace."""
    replaceable = {each.newer.fact.id: each.older.fact.id for each in notes.offers if each.link.kind is LinkKind.UPDATE}
    for known in facts_told(notes, budget=budget):
        fact, earlier = known.fact, notes.earlier.get(known.fact.id)
        yield {
            "id": fact.id,
            "text": fact.text,
            "trust": known.trust,
            "earlier": earlier,
            "may_replace": replaceable.get(fact.id),
        }
