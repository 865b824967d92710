"""`nous search`: facts and episodes that answer a query."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import click

from nous.app import build, embedder
from nous.cli.framework import App
from nous.cli.lookup import earlier_lines, elsewhere, episode_of, place_told
from nous.cli.output import counted, print_json, say
from nous.domain.episode import Category, Trust
from nous.domain.errors import BadInput, NotFound
from nous.domain.fact import LinkKind
from nous.domain.scope import Scope
from nous.embedding.base import present
from nous.facts.fact_index import Earlier, KnownFact
from nous.facts.settling import offers
from nous.pipeline.worker import Kit
from nous.search.context import LONGEST, Notes, arranged, block, facts_told, is_trivial, left_out, ranked
from nous.search.corpus import Library, Shelf
from nous.search.query import Filters, Hit, Remembrance, asked
from nous.search.search import search as find
from nous.search.turns import TurnHit, TurnPlace, in_one_row, recall_turns
from nous.text.sanitize import one_line, shortened
from nous.transcript import group_into_turns, parse_transcript, read_transcript
from nous.transcript.load import located, split_sessions
from nous.transcript.render.turns import TurnText

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
        hits = find(question, Library(shelf=shelf, only=only), limit=50) if question.text else ()
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


_LONGEST = 300
"""Characters of a turn that are shown."""


@click.command()
@click.argument("query")
@click.argument("source", metavar="PATH|SESSION")
@click.option("--scope", default="default", help="The session's scope: project, agent/project or tenant/agent/project.")
@click.option("--limit", default=5, type=click.IntRange(min=1), show_default=True, help="At most so many turns.")
@click.option("--since-turn", type=click.IntRange(min=0), metavar="N", help="Turn N and later are still in context.")
@click.option("--format", "name", metavar="F", help="Read it as this format instead of looking what it is.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def recall(
    app: App,
    query: str,
    source: str,
    *,
    scope: str,
    limit: int,
    since_turn: int | None,
    name: str | None,
    as_json: bool,
) -> None:
    """Find the turns of a session that answer a query: by words, by meaning and by the files they touched.

    PATH may be packed, or - for standard input; SESSION is the id of a session that was published from a file, or the
    beginning of it, or of one that qbit keeps. What `--since-turn` names is left out, as whoever asks still sees it;
    what a compaction has taken from view is found. Of a file of several sessions all are looked through.
    """
    if not query.strip():
        raise BadInput("the query is empty: say what to look for")
    turns, places = in_one_row(_sessions(source if source == "-" else _located(source, scope, app), name))
    if not turns:
        raise BadInput(f"in {source} nobody has answered anybody: it has no turns to look through")
    if since_turn is not None and len({place.session for place in places.values()}) > 1:
        raise BadInput(f"--since-turn counts the turns of one session, and {source} holds several")
    first, last = turns[0].number, turns[-1].number
    if since_turn is not None and since_turn <= first:
        raise BadInput(f"--since-turn {since_turn} leaves no turn to look through: the first is turn {first}")
    embed = embedder(app.settings).embed
    question = asked(query, embed)
    in_context = range(last + 1 if since_turn is None else since_turn, last + 1)
    hits = recall_turns(question, turns, embed=embed, in_context=in_context, limit=limit)
    if question.lacks:
        say(f"nous: found by words and files alone: {question.lacks}", err=True)
    if as_json:
        print_json([{**asdict(hit), **places[hit.turn]._asdict()} for hit in hits])
    else:
        say("\n".join(_turn_told(hit, places[hit.turn]) for hit in hits) or "nothing was found")


def _sessions(source: str | Path, name: str | None) -> Iterator[tuple[str | None, Sequence[TurnText]]]:
    """The turns of each session in *source*, with its id where there are several.

    Raises:
        NotFound, BadInput: as `read_transcript` does.
    """
    if source == "-":
        yield None, group_into_turns(read_transcript(sys.stdin.buffer, format=name))
        return
    path = Path(source)
    parts = tuple(split_sessions(path)) if path.is_file() else ()
    for part in parts:
        yield part.id, group_into_turns(parse_transcript(part.content, format=name))
    if not parts:
        yield None, group_into_turns(read_transcript(path, format=name))


def _located(source: str, scope: str, app: App) -> Path:
    """The file that *source* is, or the one of a session that goes by that name. Raises as `located` does."""
    try:
        return located(source)
    except (NotFound, BadInput) as error:
        no_file = error
    try:
        episode = episode_of(source, build(app.settings), Scope.parse(scope))
    except NotFound as error:
        raise NotFound(f"{no_file}; {error}") from None
    if episode.dataref is None or not episode.dataref.startswith("file://"):
        raise NotFound(f"session {episode.session_id} came without a file: name one that tells it")
    path = located(Path(unquote(episode.dataref.removeprefix("file://"), errors="surrogateescape")))
    say(f"nous: session {episode.session_id}, from {one_line(str(path))}", err=True)
    return path


def _turn_told(hit: TurnHit, place: TurnPlace) -> str:
    session = f"session {place.session} " if place.session else ""
    return f"{session}turn {place.turn}  by {'; by '.join(hit.found_by)}\n  {shortened(hit.text, _LONGEST)}"
