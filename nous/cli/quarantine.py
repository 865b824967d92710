"""Subcommands of `nous facts` on facts that are kept apart: list them, approve or drop one."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import NamedTuple
from uuid import UUID

import click

from nous.app.container import Container
from nous.bus.erasure import Tombstone, text_name
from nous.cli.facts import teach
from nous.cli.framework import App, json_option, scope_option
from nous.cli.lookup import ALL, elsewhere, knowledge_of
from nous.cli.memory_text import place_text
from nous.cli.output import day, render, say
from nous.domain.episode import Episode, QuarantinedFact, Trust
from nous.domain.errors import BadInput, NotFound
from nous.domain.scope import Scope
from nous.knowledge.decision import fact_id
from nous.knowledge.normalize import exact_form
from nous.text.sanitize import one_line

_APPROVED = "a person, who approved it in quarantine"


class _Kept(NamedTuple):
    id: UUID
    fact: QuarantinedFact
    episode: Episode


@click.command()
@scope_option
@json_option
@click.pass_obj
def quarantined(app: App, *, scope: Scope, as_json: bool) -> None:
    """List facts that an injected instruction may have made. None of them is learned.

    A tool, a page or an agent said them, and they order something, weaken security, address the agent or try to change
    its memory. `facts approve` learns one as your word, and `facts drop` refuses it for good.
    """
    found = list(_waiting(app.container, scope))
    rows = ({"id": each.id, **asdict(each.fact), "session": each.episode.session_id} for each in found)
    empty = f"no fact is kept apart in {scope}"
    render(rows, (line for each in found for line in _lines(each)), as_json=as_json, empty=empty)


@click.command()
@click.argument("fact")
@scope_option
@click.pass_obj
def approve(app: App, fact: str, *, scope: Scope) -> None:
    """Learn quarantined FACT as your word.

    Give the id that `facts quarantined` prints, or a prefix.
    """
    found = _named(app.container, scope, fact)
    candidate = replace(found.fact.candidate, trust=Trust.USER)
    decisions = teach(app.container, scope, found.episode.session_id, [candidate], by=_APPROVED)
    if not decisions:
        raise NotFound(f"the fact was dropped meanwhile: {one_line(candidate.text)}")
    say(f"approved: {one_line(decisions[0].text)}  {decisions[0].fact.id}")


@click.command()
@click.argument("fact")
@scope_option
@click.pass_obj
def drop(app: App, fact: str, *, scope: Scope) -> None:
    """Refuse quarantined FACT for good: it is neither listed nor learned again."""
    found = _named(app.container, scope, fact)
    name = text_name(scope, found.fact.candidate.text)
    app.container.tombstones.put(scope, (name,), Tombstone(at=app.container.clock(), is_done=True))
    say(f"dropped: {one_line(found.fact.candidate.text)}")


def _waiting(container: Container, scope: Scope) -> Iterator[_Kept]:
    """Yield facts that wait for an approval or a drop, of the latest session first."""
    dropped = container.tombstones.forms(scope)
    with knowledge_of(container, scope, vectors=False) as knowledge:
        learned = {exact_form(text) for known in knowledge for text in (known.fact.text, *known.said_as)}
    for episode in container.memory.episodes.recent(scope, ALL):
        for each in episode.quarantined:
            form = exact_form(each.candidate.text)
            if form not in learned and form not in dropped:
                yield _Kept(fact_id(episode.id, each.candidate.text), each, episode)


def _named(container: Container, scope: Scope, name: str) -> _Kept:
    found = [each for each in _waiting(container, scope) if str(each.id).startswith(name.casefold())]
    if not found:
        raise NotFound(f"no fact {name!r} is kept apart in {scope}, or no longer{elsewhere(container, scope)}")
    if len(found) > 1:
        raise BadInput(f"{len(found)} facts have an id that begins with {name!r}")
    return found[0]


def _lines(kept: _Kept) -> Iterator[str]:
    candidate, episode = kept.fact.candidate, kept.episode
    yield one_line(candidate.text)
    yield f"  {one_line(kept.fact.reason)}"
    place = place_text(episode.session_id, candidate.turns)
    yield f"  {candidate.trust.word}'s words, {place}, {day(episode.ended_at)}  {kept.id}"
