"""Move the episodes and facts of one scope into another, which has no facts of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import uuid4

import orjson

from nous.domain.effects import AppendFacts, Effects, SaveEpisode
from nous.domain.episode import Episode, episode_id
from nous.domain.errors import BadInput
from nous.domain.events import EpisodesUnembedded, Event, FactsUnembedded
from nous.domain.fact import Embedded, Learned, Row, bare, occurrences
from nous.domain.record_codec import T, decode, encode
from nous.domain.scope import Scope
from nous.knowledge.decision import fact_id, unembedded
from nous.store.base import NO_VECTORS
from nous.store.fact_cache import Memory

_ALL = 10**9


@dataclass(frozen=True, slots=True)
class ScopeContent:
    """The episodes, oldest first, and the rows of the fact log that a scope has or is to have."""

    scope: Scope
    episodes: tuple[Episode, ...]
    rows: tuple[Row, ...]

    @property
    def sessions(self) -> frozenset[str]:
        """The sessions that have an episode, or said a fact."""
        return frozenset(
            each.session_id for each in (*self.episodes, *(said.source for said in occurrences(self.rows)))
        )


def content_for(memory: Memory, old: Scope, new: Scope) -> ScopeContent:
    """Return the content of *old* with the scope *new* and the ids that it has there."""
    episodes = memory.episodes.recent(old, limit=_ALL)[::-1]
    rows = _bare(memory.facts.read(old, embedder=NO_VECTORS).rows)
    sources = [each.source for each in occurrences(rows)]
    sessions = {each.session_id for each in (*episodes, *sources)}
    ids = {str(episode_id(old, name)): str(episode_id(new, name)) for name in sessions}
    for row in rows:
        if isinstance(row, Learned):
            own = episode_id(new, row.fact.source.session_id)
            ids[str(row.fact.id)] = str(fact_id(own, row.fact.text))
    return ScopeContent(
        new,
        tuple(_in_scope(each, old, new, ids) for each in episodes),
        tuple(_in_scope(row, old, new, ids) for row in rows),
    )


def _bare(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return tuple(bare(row) for row in rows if not isinstance(row, Embedded))


def _in_scope(record: T, old: Scope, new: Scope, ids: Mapping[str, str]) -> T:
    """Return *record* with other ids and scope: each is a text or object in its JSON."""
    scopes, replaced = (orjson.loads(encode(scope)) for scope in (old, new))

    def put(value: Any) -> Any:
        if value == scopes:
            return replaced
        if isinstance(value, dict):
            return {key: put(inner) for key, inner in cast("dict[str, Any]", value).items()}
        if isinstance(value, list):
            return [put(inner) for inner in cast("list[Any]", value)]
        return ids.get(value, value) if isinstance(value, str) else value

    return decode(type(record), orjson.dumps(put(orjson.loads(encode(record)))))


def storing(content: ScopeContent, memory: Memory, *, at: datetime) -> Effects:
    """Return the effects that store what the scope lacks of *content*; none once it has all.

    What a move that broke off has stored stays. Raises `BadInput` if the scope has other facts, or another episode of
    one of the sessions.
    """
    scope, log = content.scope, memory.facts.read(content.scope, embedder=NO_VECTORS)
    there = _bare(log.rows)
    if there[: len(content.rows)] != content.rows[: len(there)]:
        raise BadInput(f"{scope} has facts of its own: a scope can only be moved into one that has none")
    states = {each.id: each.state for each in memory.episodes.recent(scope, limit=_ALL)}
    for each in content.episodes:
        if states.get(each.id, each.state) != each.state:
            raise BadInput(f"session {each.session_id} has another episode in {scope}: forget one of them first")
    episodes = [SaveEpisode(episode=each) for each in content.episodes if each.id not in states]
    rows = content.rows[len(there) :]
    facts = [AppendFacts(scope=scope, expected=log.version, rows=rows)] if rows else []
    request = str(uuid4())
    events: list[Event] = [unembedded(EpisodesUnembedded, scope, state=request, at=at)] if episodes else []
    if facts:
        events.append(unembedded(FactsUnembedded, scope, state=request, at=at))
    return Effects(writes=(*episodes, *facts), events=tuple(events))
