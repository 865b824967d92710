"""Search memory, print notes for a new session, and print stored episodes and facts."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import click

from nous.app.container import Container
from nous.cli.framework import App, CommandEntry, Frame, any_scope_option, json_option, limit_option, scope_option
from nous.cli.lookup import elsewhere, episode_of, fact_named, knowledge_of, one_of
from nous.cli.memory_text import earlier_lines, episode_lines, fact_lines, fact_object, place_text, whole_episode
from nous.cli.output import counted, day, fitted, note, render
from nous.context.notes import LONGEST, CompiledNotes, ContextNotes, block, compiled_notes, is_trivial
from nous.domain.episode import Category
from nous.domain.errors import NotFound
from nous.domain.fact import LinkKind
from nous.domain.scope import Scope
from nous.knowledge.fact_index import KnownFact
from nous.retrieval.provenance import GAVE_WAY, Evidence, Provenance, RelatedFact, provenance_of
from nous.retrieval.query import Filters, Hit, HitKind
from nous.services.memory import context_notes, search_memory, session_memory
from nous.text.language import tables
from nous.text.sanitize import one_line


@click.command()
@scope_option
@limit_option(50)
@click.option("--editions", metavar="SESSION", help="Show every edition of this session's episode, newest first.")
@json_option
@click.pass_obj
def episodes(app: App, *, scope: Scope, limit: int, editions: str | None, as_json: bool) -> None:
    """List the episodes of sessions that ended last: outcome, lessons and transcript."""
    stored = app.container.memory.episodes
    if editions is None:
        found = stored.recent(scope, limit + 1)
    else:
        found = stored.editions(scope, episode_of(editions, app.container, scope).id)
    if len(found) > limit:
        note(f"there are more than these {limit}; --limit shows more")
    found = found[:limit]
    empty = "" if found else f"no episodes in {scope}{elsewhere(app.container, scope)}"
    lines = (line for each in found for line in (*episode_lines(each), ""))
    render(found, lines, as_json=as_json, empty=empty)


FACT_COMMANDS = tuple(CommandEntry(name, *entry) for name, entry in tables("nous.cli", "commands")["facts"].items())


@click.group(cls=Frame, table=FACT_COMMANDS, invoke_without_command=True)
@scope_option
@click.option("--all", "everything", is_flag=True, help="Include superseded facts.")
@json_option
@click.pass_context
def facts(ctx: click.Context, *, scope: Scope, everything: bool, as_json: bool) -> None:
    """List facts with the session and turns that each was learned from first; the latest last.

    Earlier values stand below a fact, with the day until which they were true. `facts learn` adds facts, and `facts
    duplicates` lists possible duplicates.
    """
    if ctx.invoked_subcommand is not None:
        return
    container = ctx.ensure_object(App).container
    with knowledge_of(container, scope, vectors=False) as knowledge:
        known = [each for each in knowledge if everything or each.is_current]
        by_time = sorted(known, key=lambda each: each.fact.source.said_at or each.fact.learned_at)
        render(
            (fact_object(each, knowledge) for each in known),
            (line for each in by_time for line in fact_lines(each, knowledge)),
            as_json=as_json,
            empty="" if known else f"no facts in {scope}{elsewhere(container, scope)}",
        )


@click.command()
@click.argument("name", metavar="SESSION|EPISODE")
@scope_option
@json_option
@click.pass_obj
def show(app: App, name: str, *, scope: Scope, as_json: bool) -> None:
    """Show the memory of one session: its episode, its facts, and what is still open.

    SESSION or EPISODE is an id, or a unique prefix of one. A session that goes on has no episode yet: if it was
    published as compacting, you see its anchored summary, by its whole id.
    """
    anchors = app.container.memory.anchored_summaries.of_scope(scope)
    anchored = next((each for each in anchors if each.session_id == name), None)
    try:
        episode = episode_of(name, app.container, scope)
    except NotFound:
        if anchored is None:
            raise
        render({"anchored": anchored}, [anchored.summary.to_prompt_text()], as_json=as_json)
        return
    left = session_memory(app.container.memory, episode).facts
    with knowledge_of(app.container, scope, vectors=False) as knowledge:
        objects = {"episode": episode, "facts": (fact_object(each, knowledge) for each in left), "anchored": anchored}
        lines = (line for each in left for line in fact_lines(each, knowledge))
        render(objects, (*whole_episode(episode), "", counted(len(left), "fact"), *lines), as_json=as_json)


@click.command()
@click.argument("fact")
@any_scope_option
@json_option
@click.pass_obj
def why(app: App, fact: str, *, scope: Scope | None, as_json: bool) -> None:
    """Show the provenance of FACT. FACT is an id that `nous facts` prints, or an id prefix.

    You see every session that said it, in which turns and words, and what extracted it there. You also see why it was
    merged with other facts, replaced them, gave way to them, or was kept beside them.
    """
    found = _found(fact, app.container, scope)
    render(_as_object(found), _lines(found), as_json=as_json)


def _found(name: str, container: Container, scope: Scope | None) -> Provenance:
    for each in [scope] if scope else container.memory.episodes.scopes():
        with knowledge_of(container, each, vectors=False) as knowledge:
            if known := one_of(name, knowledge, container, each) if scope else fact_named(name, knowledge):
                return provenance_of(known.fact.id, knowledge, container.memory.episodes.editions)
    raise NotFound(f"there is no fact {name!r} in any scope")


def _lines(found: Provenance) -> Iterator[str]:
    known, fact = found.known, found.known.fact
    about = f" about {one_line(fact.subject)}" if fact.subject else ""
    kind = f"{'an' if fact.category[0] in 'aeiou' else 'a'} {fact.category} fact"
    yield one_line(fact.text)
    yield f"  {kind}{about} in {fact.scope}, said by {counted(known.times_confirmed, 'session')}; {_state(found)}"
    yield f"  {fact.id}"
    below = {(each.at, each.reason): f"it {each.relation} another, see below" for each in found.relatives}
    for number, evidence in enumerate(found.tellings):
        reason = below.get((evidence.at, evidence.reason), evidence.reason)
        yield from _evidence_lines(replace(evidence, reason=reason), is_first=number == 0)
    for relative in found.relatives:
        yield from _relative(relative)


def _state(found: Provenance) -> str:
    known = found.known
    if known.superseded is None:
        return f"true since {day(known.valid_from)}, as far as is known"
    until = known.superseded.valid_to
    return f"true until {day(until)}, then corrected" if until else "superseded by other words for it"


def _evidence_lines(evidence: Evidence, *, is_first: bool) -> Iterator[str]:
    near = "" if evidence.similarity is None else f" (cosine {evidence.similarity:.2f})"
    yield f"\n{'learned' if is_first else 'said again'} {day(evidence.at)}: {one_line(evidence.reason)}{near}"
    if not is_first:
        yield f"  in the words: {one_line(evidence.text)}"
    source = evidence.source
    said = f", which ended {source.said_at:%Y-%m-%d %H:%M} UTC" if source.said_at else ""
    yield f"  {place_text(source.session_id, source.turns)}{said}; {source.trust.word}'s words"
    yield f"  episode {source.episode_id}, event {source.event_id}"
    if source.digest or source.by:
        yield f"  transcript version {source.digest or 'unknown'}, read by: {source.by or 'unknown'}"
    yield from (f"  > turn {quote.turn}: {fitted(quote.text, beside=12)}" for quote in evidence.quotes)


def _relative(relative: RelatedFact) -> Iterator[str]:
    until = f", which was true until {day(relative.valid_to)}" if relative.valid_to else ""
    likely = "" if relative.likelihood is None else f" (likelihood {relative.likelihood:.2f})"
    what = f"{relative.relation} {relative.fact_id}{until}{likely}"
    if relative.relation == GAVE_WAY:
        what = f"gave way on {day(relative.valid_to or relative.at)} to {relative.fact_id}"
    hand = f" (by hand, on {day(relative.at)})" if relative.by_hand else ""
    yield f"\n{what}: {one_line(relative.reason)}{hand}"
    yield f"  {fitted(relative.text, beside=2)}"


def _as_object(found: Provenance) -> dict[str, Any]:
    known = found.known
    return {
        "fact": known.fact,
        "current": known.is_current,
        "times_confirmed": known.times_confirmed,
        "trust": known.trust,
        "valid_from": known.valid_from,
        "valid_to": known.superseded.valid_to if known.superseded else None,
        "said": found.tellings,
        "relations": found.relatives,
    }


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
@click.option("--explain", is_flag=True, help="List each line in its place: whether it is in, its score, and why.")
@json_option
@click.pass_obj
def context(app: App, *, scope: Scope, query: str, budget: int, explain: bool, as_json: bool) -> None:
    """Print notes for a new session: the last session in short, and facts, within a budget.

    The block is headed as notes, not instructions. Text inside cannot fake its closing tag. If nothing is known,
    nothing is printed. Facts that only a tool or a page has said are left out, and counted on standard error.
    """
    notes, doubted = context_notes(app.container.memory, query, scope)
    compiled = compiled_notes(notes, budget=budget)
    if compiled.text or explain or as_json:
        fields = {"block": compiled.text, "left_out": doubted, "facts": _objects(notes, compiled.facts)}
        fields |= {"lines": _explained(compiled)} if explain else {}
        render(fields, _explanation(compiled) if explain else [compiled.text], as_json=as_json)
    if not (notes.facts or notes.episode or notes.anchor or doubted):
        note(f"nothing is known in {scope}; `nous status` says what waits{elsewhere(app.container, scope)}")
    if query.strip() and is_trivial(query):
        note(f"{query!r} names nothing to look for: the order is the usual one")
    if not compiled.text and block(notes):
        note(f"no note fits into {budget:,} characters")
    if doubted:
        are = "is" if doubted == 1 else "are"
        note(f"{counted(doubted, 'fact')} that only a tool or page has said {are} left out")


def _explained(compiled: CompiledNotes) -> Iterator[dict[str, Any]]:
    for row in compiled.lines:
        about = {"kind": row.segment.kind, "score": round(row.score, 3), "characters": row.original_tokens}
        yield {**about, "is_in": not row.is_dropped, "reason": row.reason, "text": row.segment.content}


def _explanation(compiled: CompiledNotes) -> Iterator[str]:
    for row in compiled.lines:
        fate = "out" if row.is_dropped else "in"
        yield f"{fate:<4} {row.segment.kind:<23} score {row.score:5.3f}  {row.reason}"
        yield f"     {fitted(row.segment.content, beside=5)}"
    kept = sum(not row.is_dropped for row in compiled.lines)
    yield f"{kept} of {counted(len(compiled.lines), 'line')} are in; the block has {len(compiled.text):,} characters"


def _objects(notes: ContextNotes, facts: Iterable[KnownFact]) -> Iterator[dict[str, Any]]:
    """Yield the facts of the block as JSON, with earlier values and the fact each may replace."""
    replaceable = {each.newer.fact.id: each.older.fact.id for each in notes.offers if each.link.kind is LinkKind.UPDATE}
    for known in facts:
        fact, earlier = known.fact, notes.earlier.get(known.fact.id)
        yield {
            "id": fact.id,
            "text": fact.text,
            "trust": known.trust,
            "earlier": earlier,
            "may_replace": replaceable.get(fact.id),
        }
