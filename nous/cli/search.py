"""`nous search` and `nous context`: search memory, and gather notes for a new session."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from nous.app.container import build
from nous.cli.framework import App
from nous.cli.lookup import earlier_lines, elsewhere, place_text
from nous.cli.output import counted, print_json, say
from nous.domain.episode import Category
from nous.domain.errors import BadInput
from nous.domain.fact import LinkKind
from nous.domain.scope import Scope
from nous.knowledge.fact_index import Earlier
from nous.retrieval.context import LONGEST, ContextNotes, block, facts_told, is_trivial
from nous.retrieval.query import Filters, Hit, HitKind
from nous.services.memory import context_notes, search_memory
from nous.text.sanitize import one_line

_SECOND = "%Y-%m-%dT%H:%M:%S"
_TIME = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", _SECOND])


def _utc(_: click.Context, __: click.Parameter, time: datetime | None) -> datetime | None:
    return time.replace(tzinfo=UTC) if time else None


@click.command()
@click.argument("query")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--limit", default=10, type=click.IntRange(min=1), show_default=True, help="Show at most this many hits.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([each.value for each in HitKind]),
    help="Only facts, or only episodes.",
)
@click.option(
    "--category",
    "categories",
    multiple=True,
    type=click.Choice([each.value for each in Category]),
    help="Only facts of this category.",
)
@click.option("--after", type=_TIME, callback=_utc, help="Only what was said or ended after this time (UTC).")
@click.option("--before", type=_TIME, callback=_utc, help="Only what was said or ended before this time (UTC).")
@click.option("--all", "everything", is_flag=True, help="Include superseded facts, beside those that replaced them.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def search(app: App, query: str, *, scope: str, limit: int, everything: bool, as_json: bool, **only: Any) -> None:
    """Search facts and episodes by words, by meaning and by the files they are about.

    Each hit shows how it was found. A query that is close to nothing finds nothing.
    """
    filters = Filters(**only)
    if filters.after and filters.before and filters.after >= filters.before:
        raise BadInput(f"nothing is after {filters.after:{_SECOND}} and before {filters.before:{_SECOND}}")
    if filters.categories and set(filters.kinds) == {HitKind.EPISODE}:
        raise BadInput("episodes have no category: drop --category, or search for facts")
    container, within = build(app.settings), Scope.parse(scope)
    found = search_memory(container.memory, query, within, filters=filters, limit=limit, everything=everything)
    if found.is_scope_empty:
        say(f"nous: nothing is known in {scope}{elsewhere(container, within)}", err=True)
    if found.lacks:
        say(f"nous: found by words and files alone: {found.lacks}", err=True)
    if as_json:
        print_json([asdict(hit) for hit in found.hits])
    else:
        say("\n".join(map(_hit_text, found.hits)) or "nothing was found")


def _hit_text(hit: Hit) -> str:
    """Return a hit as text: its content, its source, and how it was found."""
    state = "  (superseded)" if hit.superseded_by else ""
    place = place_text(hit.session_id, hit.turns)
    lines = [
        f"{hit.kind:<8} {one_line(hit.text)}{state}",
        f"         {place}, {hit.date:%Y-%m-%d}  {hit.id}",
        f"         by {'; by '.join(hit.found_by)}",
    ]
    if hit.superseded_by:
        until = f"until {hit.valid_to:%Y-%m-%d}, then" if hit.valid_to else "now"
        lines.insert(1, f"         {until}: {hit.superseded_by}")
    lines[1:1] = [f"         {line}" for line in earlier_lines(hit.earlier)]
    return "\n".join(lines)


@click.command()
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--query", default="", help="How the session begins. Facts about it come first.")
@click.option(
    "--budget", default=LONGEST, type=click.IntRange(1, LONGEST), show_default=True, help="Size in characters."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the block, its facts, and how many were left out.")
@click.pass_obj
def context(app: App, *, scope: str, query: str, budget: int, as_json: bool) -> None:
    """Print notes for a new session: the last session in short, and facts, within a budget.

    The block is headed as notes, not instructions, and nothing in it can end it. If nothing is known, nothing is
    printed. A query such as "ok" or "/commit" is not searched for. Facts that only a tool or a page has said are left
    out, and counted on standard error. Of a possible update the newer fact comes first. Of two possible duplicates one
    comes last.
    """
    container, within = build(app.settings), Scope.parse(scope)
    notes, doubted = context_notes(container.memory, query, within)
    text = block(notes, budget=budget)
    if as_json:
        print_json({"block": text, "left_out": doubted, "facts": _objects(notes, budget)})
    elif text:
        say(text)
    if not (notes.facts or notes.episode or notes.anchor or doubted):
        say(f"nous: nothing is known in {scope}{elsewhere(container, within)}", err=True)
    if query.strip() and is_trivial(query):
        say(f"nous: {query!r} names nothing to look for: the order is the usual one", err=True)
    if not text and block(notes):
        say(f"nous: no note fits into {budget:,} characters", err=True)
    if doubted:
        verb = "is" if doubted == 1 else "are"
        say(f"nous: {counted(doubted, 'fact')} that only a tool or page has said {verb} left out", err=True)


def _objects(notes: ContextNotes, budget: int) -> list[dict[str, Any]]:
    """Return the facts of the block as JSON, with earlier values and the fact each may replace."""
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
