"""`nous search`: facts and episodes that answer a query."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from nous.cli.fact_lines import earlier_lines, place_told
from nous.cli.frame import App
from nous.cli.knowing import elsewhere
from nous.cli.show import print_json, say
from nous.embed.absent import present
from nous.episode import Category
from nous.errors import BadInput
from nous.readable import shortened
from nous.recall.hits import Filters, Hit, Remembrance
from nous.recall.library import Library
from nous.recall.query import asked
from nous.recall.search import search as find
from nous.scope import Scope
from nous.wiring import build

_EPISODES = 1000
"""Episodes that are searched: those that ended last."""

_SECOND = "%Y-%m-%dT%H:%M:%S"
_TIME = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", _SECOND])


def _utc(_: click.Context, __: click.Parameter, time: datetime | None) -> datetime | None:
    return time.replace(tzinfo=UTC) if time else None


@click.command()
@click.argument("query")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--limit", default=10, type=click.IntRange(min=1), show_default=True, help="At most so many hits.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([each.value for each in Remembrance]),
    help="Facts or episodes alone.",
)
@click.option(
    "--category",
    "categories",
    multiple=True,
    type=click.Choice([each.value for each in Category]),
    help="Facts of it alone.",
)
@click.option("--after", type=_TIME, callback=_utc, help="Only what was said or ended after this time (UTC).")
@click.option("--before", type=_TIME, callback=_utc, help="Only what was said or ended before this time (UTC).")
@click.option("--all", "everything", is_flag=True, help="Superseded facts beside those that took their place, too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def search(app: App, query: str, *, scope: str, limit: int, everything: bool, as_json: bool, **only: Any) -> None:
    """Search facts and episodes by words, by meaning and by the files they are about.

    Each hit says what it was found by. A query that nothing is near to finds nothing.
    """
    if not query.strip():
        raise BadInput("the query is empty: say what to look for")
    filters = Filters(**only)
    if filters.after and filters.before and filters.after >= filters.before:
        raise BadInput(f"nothing is after {filters.after:{_SECOND}} and before {filters.before:{_SECOND}}")
    if filters.categories and set(filters.kinds) == {Remembrance.EPISODE}:
        raise BadInput("episodes have no category: drop --category, or search for facts")
    world, within = build(app.settings), Scope.parse(scope)
    kit, embedder = world.kit, present(world.kit.embedder)
    episodes = kit.episodes.recent(within, limit=_EPISODES)
    question = asked(query, embedder.embed)
    ids = [episode.id for episode in episodes]
    vectors = kit.episode_vectors.episode_vectors(within, ids, embedder=embedder.id)
    with kit.memory.shelf(kit.facts, within, embedder) as shelf:
        library = Library(shelf=shelf, episodes=episodes, vectors=vectors, only=filters)
        hits = find(question, library, limit=limit, everything=everything)
        is_empty = not episodes and not any(shelf.knowledge)
    if is_empty:
        say(f"nous: nothing is known in {scope}{elsewhere(world, within)}", err=True)
    if question.lacks:
        say(f"nous: found by words and files alone: {question.lacks}", err=True)
    if as_json:
        print_json([asdict(hit) for hit in hits])
    else:
        say("\n".join(map(_told, hits)) or "nothing was found")


def _told(hit: Hit) -> str:
    """A hit for the eye: what it is, from where, and why it was found."""
    state = "  (superseded)" if hit.superseded_by else ""
    place = place_told(hit.session_id, hit.turns)
    lines = [
        f"{hit.kind:<8} {shortened(hit.text, 120)}{state}",
        f"         {place}, {hit.date:%Y-%m-%d}  {hit.id}",
        f"         by {'; by '.join(hit.found_by)}",
    ]
    if hit.superseded_by:
        until = f"until {hit.valid_to:%Y-%m-%d}, then" if hit.valid_to else "now"
        lines.insert(1, f"         {until}: {hit.superseded_by}")
    lines[1:1] = [f"         {line}" for line in earlier_lines(hit.earlier)]
    return "\n".join(lines)
