"""`nous episodes`, `facts`, `why` and `scopes`: show stored memory and its provenance."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import unquote

import click

from nous.app.container import Container, build
from nous.cli.framework import App, CommandEntry, Frame
from nous.cli.lookup import (
    ALL,
    checked_beginning,
    checked_session,
    current_count,
    elsewhere,
    episode_of,
    fact_lines,
    fact_object,
    knowledge_of,
    one_of,
)
from nous.cli.output import counted, in_words, print_json, say, table
from nous.domain.episode import Episode, Tier
from nous.domain.errors import NotFound
from nous.domain.fact import Learned, Source
from nous.domain.scope import Scope
from nous.knowledge.fact_index import FactIndex
from nous.retrieval.provenance import GAVE_WAY, Evidence, Provenance, RelatedFact, named, provenance_of
from nous.services.memory import SessionMemory, find_episode, session_memory
from nous.store.base import NO_VECTORS
from nous.text.sanitize import one_line, shortened

_SCOPE = click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command()
@_SCOPE
@click.option(
    "--limit",
    default=50,
    type=click.IntRange(min=1),
    show_default=True,
    help="Show at most this many, those that ended last.",
)
@click.option("--editions", metavar="SESSION", help="Show every edition of this session's episode, newest first.")
@_JSON
@click.pass_obj
def episodes(app: App, *, scope: str, limit: int, editions: str | None, as_json: bool) -> None:
    """List the episodes of sessions: outcome, lessons, and the transcript of each."""
    container, within = build(app.settings), Scope.parse(scope)
    stored = container.memory.episodes
    if editions is None:
        found = stored.recent(within, limit + 1)
    else:
        found = stored.editions(within, _episode_named(editions, container, within).id)[: limit + 1]
    if len(found) > limit:
        found = found[:limit]
        say(f"nous: there are more than these {limit}; --limit shows more", err=True)
    if as_json:
        print_json([asdict(episode) for episode in found])
    else:
        say(
            "\n\n".join("\n".join(episode_lines(episode)) for episode in found)
            or f"no episodes in {scope}{elsewhere(container, within)}"
        )
        if len(found) > 1:
            say(f"\n{_totals(found)}")


def _episode_named(name: str, container: Container, scope: Scope) -> Episode:
    """Return the episode of *name*: the id of an episode or a session, or a prefix.

    Raises:
        NotFound: there is none; the message says where else to look.
        BadInput: *name* is ambiguous, too short, or cannot be an id.
    """
    checked_session(name)
    try:
        return find_episode(container.memory, name, scope)
    except NotFound:
        return episode_of(name, container, scope)


FACT_COMMANDS = (
    CommandEntry("learn", "nous.cli.learn:learn", "Learn facts from JSON lines."),
    CommandEntry("duplicates", "nous.cli.settle:duplicates", "List pairs that may say the same."),
    CommandEntry("merge", "nous.cli.settle:merge", "Merge one fact into another."),
    CommandEntry("keep-apart", "nous.cli.settle:keep_apart", "Keep two facts apart for good."),
    CommandEntry("supersede", "nous.cli.settle:supersede", "Put one fact in the place of another."),
    CommandEntry("unsettle", "nous.cli.settle:unsettle", "Take the last decision about a pair back."),
)


@click.group(cls=Frame, table=FACT_COMMANDS, invoke_without_command=True)
@_SCOPE
@click.option("--all", "everything", is_flag=True, help="Include superseded facts.")
@_JSON
@click.pass_context
def facts(ctx: click.Context, *, scope: str, everything: bool, as_json: bool) -> None:
    """List facts with their day, speaker, session and turns. The latest come last.

    Earlier values stand below a fact, with the day until which they were true. `facts learn` adds facts, and `facts
    duplicates` lists possible duplicates.
    """
    if ctx.invoked_subcommand is not None:
        return
    app: App = ctx.obj
    container, within = build(app.settings), Scope.parse(scope)
    with knowledge_of(container, within) as knowledge:
        known = [each for each in knowledge if everything or each.is_current]
        if as_json:
            print_json([fact_object(each, knowledge) for each in known])
        else:
            by_time = sorted(known, key=lambda each: each.said_at)
            text = "\n".join(line for each in by_time for line in fact_lines(each, knowledge))
            say(text or f"no facts in {scope}{elsewhere(container, within)}")


def episode_lines(episode: Episode) -> Iterator[str]:
    """Yield an episode as lines of text."""
    summary = episode.summary
    yield f"{one_line(summary.title)}  [{summary.outcome}{'' if episode.is_sure else ', unsure'}]"
    yield f"  session {episode.session_id} ({episode.format}, {episode.entries} entries), {_made_by(episode)}"
    if episode.made_do:
        yield f"  extractive for now: {shortened(in_words(episode.made_do), 140)}"
    if episode.dataref:
        yield f"  from {one_line(unquote(episode.dataref.removeprefix('file://')))}"
    yield f"  because {one_line(summary.outcome_rationale)}"
    yield from (f"  decided: {shortened(each.description, 140)}" for each in episode.decisions if not each.turns)
    yield from (f"  - {shortened(point, 160)}" for point in summary.key_points)
    yield from (f"  open: {shortened(thread, 150)}" for thread in summary.still_open)


@click.command()
@click.argument("name", metavar="SESSION|EPISODE")
@_SCOPE
@_JSON
@click.pass_obj
def show(app: App, name: str, *, scope: str, as_json: bool) -> None:
    """Show the memory of one session: its episode, its facts, and what is still open.

    SESSION or EPISODE is an id, or a unique prefix of one.
    """
    container, within = build(app.settings), Scope.parse(scope)
    episode = _episode_named(name, container, within)
    left = session_memory(container.memory, episode)
    with knowledge_of(container, within) as knowledge:
        if as_json:
            print_json({"episode": asdict(episode), "facts": [fact_object(each, knowledge) for each in left.facts]})
        else:
            say("\n".join((*_whole_episode(episode), *_taught(left, knowledge))))


def _whole_episode(episode: Episode) -> Iterator[str]:
    """Yield everything that an episode says, uncut."""
    summary = episode.summary
    yield f"{one_line(summary.title)}  [{summary.outcome}{'' if episode.is_sure else ', unsure'}]"
    yield f"session {episode.session_id} in {episode.scope}, ended {episode.ended_at:%Y-%m-%d %H:%M} UTC"
    yield f"{episode.format}, {counted(episode.entries, 'entry', 'entries')}, {_made_by(episode)}"
    if episode.dataref:
        yield f"from {one_line(unquote(episode.dataref.removeprefix('file://')))}"
    yield from ("", summary.summary, "", f"outcome: {one_line(summary.outcome_rationale)}")
    yield from _listed("decided", (decision.description for decision in episode.decisions))
    yield from _listed("learned", summary.key_points)
    yield from _listed("files", episode.files_touched)
    yield from _listed("open", summary.open_threads)


def _taught(left: SessionMemory, knowledge: FactIndex) -> Iterator[str]:
    yield ""
    yield f"{counted(len(left.facts), 'fact')}"
    yield from (line for known in left.facts for line in fact_lines(known, knowledge))


def _listed(head: str, items: Iterable[str]) -> Iterator[str]:
    if found := [f"- {one_line(item)}" for item in items]:
        yield from ("", f"{head}:", *found)


def _totals(episodes: Sequence[Episode]) -> str:
    """Return the number of episodes by outcome, and of those that are unsure or extractive."""
    outcomes = Counter(str(episode.summary.outcome) for episode in episodes)
    by_outcome = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    unsure = sum(not episode.is_sure for episode in episodes)
    extractive = sum(episode.tier is Tier.EXTRACTIVE for episode in episodes)
    doubts = ", ".join(f"{count} {what}" for count, what in ((unsure, "unsure"), (extractive, "extractive")) if count)
    return f"{counted(len(episodes), 'episode')}: {by_outcome}" + (f"; {doubts} of them" if doubts else "")


def _made_by(episode: Episode) -> str:
    edition = f", edition {episode.edition}" if episode.edition > 1 else ""
    if episode.tier is Tier.EXTRACTIVE:
        return f"extractive summary{edition}"
    cost = f", {episode.tokens.total:,} tokens" if episode.tokens else ""
    return f"summary by {episode.model} with {episode.prompt_version}{cost}{edition}"


@click.command()
@click.argument("fact")
@click.option("--scope", help="project, agent/project or tenant/agent/project. Default: search every scope.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def why(app: App, fact: str, *, scope: str | None, as_json: bool) -> None:
    """Show the provenance of FACT. FACT is an id that `nous facts` prints, or an id prefix.

    You see every session that said it, in which turns and words, and what extracted it there. You also see why it was
    merged with other facts, replaced them, gave way to them, or was kept beside them.
    """
    container = build(app.settings)
    found = _provenance_found(
        fact, container, [Scope.parse(scope)] if scope else list(container.memory.episodes.scopes())
    )
    if as_json:
        print_json(_as_object(found))
    else:
        say("\n".join(_lines(found)))


def _provenance_found(name: str, container: Container, scopes: list[Scope]) -> Provenance:
    checked_beginning(name)
    for scope in scopes:
        with knowledge_of(container, scope) as knowledge:
            if len(scopes) == 1 or named(name, knowledge):
                known = one_of(name, knowledge, container, scope)
                return provenance_of(
                    known.fact.id, knowledge, partial(container.memory.summary_inputs.summary_input, scope)
                )
    raise NotFound(f"there is no fact {name!r} in any scope")


def _lines(found: Provenance) -> Iterator[str]:
    known, fact = found.known, found.known.fact
    yield one_line(fact.text)
    about = f" about {one_line(fact.subject)}" if fact.subject else ""
    kind = f"{'an' if fact.category[0] in 'aeiou' else 'a'} {fact.category} fact"
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
    if known.is_current:
        return f"true since {_day(known.valid_from)}, as far as is known"
    until = known.superseded.valid_to if known.superseded else None
    return f"true until {_day(until)}, then corrected" if until else "superseded by other words for it"


def _evidence_lines(evidence: Evidence, *, is_first: bool) -> Iterator[str]:
    near = "" if evidence.similarity is None else f" (cosine {evidence.similarity:.2f})"
    yield f"\n{'learned' if is_first else 'said again'} {_day(evidence.at)}: {one_line(evidence.reason)}{near}"
    if not is_first:
        yield f"  in the words: {one_line(evidence.text)}"
    yield from (f"  {line}" for line in _place(evidence.source))
    yield from (f"  > {shortened(quote, 320)}" for quote in evidence.quotes)


def _place(source: Source) -> Iterator[str]:
    turns = f", turn {', '.join(map(str, source.turns))}" if source.turns else ""
    said = f", which ended {source.said_at:%Y-%m-%d %H:%M} UTC" if source.said_at else ""
    yield f"session {source.session_id}{turns}{said}; {source.trust}'s words"
    yield f"episode {source.episode_id}, event {source.event_id}"
    if source.digest or source.by:
        yield f"transcript sha256 {source.digest or 'unknown'}, read by: {source.by or 'unknown'}"


def _relative(relative: RelatedFact) -> Iterator[str]:
    """Yield lines on a related fact.

    `valid_to` is the time until which the older of two conflicting facts was true.
    """
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


def _as_object(found: Provenance) -> dict[str, Any]:
    known = found.known
    return {
        "fact": asdict(known.fact),
        "current": known.is_current,
        "times_confirmed": known.times_confirmed,
        "trust": known.trust,
        "valid_from": known.valid_from,
        "valid_to": known.superseded.valid_to if known.superseded else None,
        "said": [asdict(evidence) for evidence in found.tellings],
        "relations": [asdict(relative) for relative in found.relatives],
    }


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def scopes(app: App, *, as_json: bool) -> None:
    """List scopes: sessions with an episode, current facts, and the day of the last fact.

    A scope is the memory of one user or project, as --scope names it. Nothing is read or merged across scopes.
    """
    container = build(app.settings)
    rows = [_row(container, scope) for scope in container.memory.episodes.scopes()]
    if as_json:
        print_json(rows)
    elif rows:
        cells = ((str(each["sessions"]), str(each["facts"]), _last_day(each), each["scope"]) for each in rows)
        say(table(("sessions", "facts", "last learned", "scope"), cells))
    else:
        say("there is no scope yet: nous publish creates one")


def _row(container: Container, scope: Scope) -> dict[str, Any]:
    rows = container.memory.facts.read(scope, embedder=NO_VECTORS).rows
    learned = {row.fact.id: row.fact.learned_at for row in rows if isinstance(row, Learned)}
    return {
        "scope": str(scope),
        "sessions": len(container.memory.episodes.recent(scope, ALL)),
        "facts": current_count(rows),
        "last_learned": max(learned.values(), default=None),
    }


def _last_day(row: dict[str, Any]) -> str:
    return f"{row['last_learned']:%Y-%m-%d}" if row["last_learned"] else "-"
