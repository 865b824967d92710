"""Copy the episodes and facts of one scope into another, which may have facts of its own."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast
from uuid import UUID

import orjson

from nous.bus.base import Bus, Conflict, Priority
from nous.bus.erasure import session_name
from nous.bus.redis.erasure import RedisTombstones
from nous.domain.effects import AppendFacts, Effects, SaveEpisode
from nous.domain.episode import Episode, episode_id
from nous.domain.errors import BadInput, Retryable
from nous.domain.events import EpisodesUnembedded, FactsUnembedded
from nous.domain.fact import Confirmed, Embedded, Learned, Linked, Row, Source, Superseded, bare, occurrences
from nous.domain.record_codec import T, decode, encode
from nous.domain.scope import Scope
from nous.knowledge.candidate_filter import without_candidates
from nous.knowledge.decision import fact_id, unembedded
from nous.knowledge.erase import FORGOTTEN, without
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.learn import NOT_COMPARED
from nous.knowledge.normalize import exact_form
from nous.knowledge.verdict import NewFact
from nous.store.base import NO_VECTORS
from nous.store.fact_cache import Memory
from nous.store.fact_rows import continuation

LEFT_BEHIND = "the reason may quote another fact; the rows about both have it"
"""Replacement for the reasons of moved facts.

Erasure finds what quotes a fact by the rows about both, and some of them may be missing in the other scope.
"""

_QUOTELESS = {NewFact().reason, NOT_COMPARED, FORGOTTEN}  # reasons that quote no other fact
_AT_ONCE = 500  # rows that are appended in one step. A move of more may stop halfway
_ALL = 10**9
_REFUSALS = 1000


@dataclass(frozen=True, slots=True)
class ScopeContent:
    """The episodes, oldest first, and the rows of the fact log that a scope has or is to have."""

    scope: Scope
    episodes: Sequence[Episode]
    rows: Sequence[Row]

    @property
    def sessions(self) -> frozenset[str]:
        """The sessions that have an episode, or said a fact."""
        return frozenset(
            each.session_id for each in (*self.episodes, *(said.source for said in occurrences(self.rows)))
        )


def content_for(memory: Memory, old: Scope, new: Scope) -> ScopeContent:
    """Return the content of *old* with the scope *new* and the ids that it has there."""
    episodes = memory.episodes.recent(old, limit=_ALL)[::-1]
    rows = [bare(row) for row in memory.facts.read(old, embedder=NO_VECTORS).rows if not isinstance(row, Embedded)]
    sources = [each.source for each in occurrences(rows)]
    sessions = {each.session_id for each in (*episodes, *sources)}
    ids = {str(episode_id(old, name)): str(episode_id(new, name)) for name in sessions}
    for row in rows:
        if isinstance(row, Learned):
            own = episode_id(new, row.fact.source.session_id)
            ids[str(row.fact.id)] = str(fact_id(own, row.fact.text))
    return ScopeContent(
        new, [_in_scope(each, old, new, ids) for each in episodes], [_in_scope(row, old, new, ids) for row in rows]
    )


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


@dataclass(frozen=True, kw_only=True)
class ScopeWriter:
    """Adds content to a scope. Its records stay as they are, and forgotten ones stay forgotten."""

    bus: Bus
    memory: Memory
    tombstones: RedisTombstones
    clock: Callable[[], datetime]

    def add(self, content: ScopeContent) -> int:
        """Add what the scope lacks, and queue its embedding; return the count of new facts.

        Raises `BadInput`, and adds nothing, if a session was forgotten there, or has another episode. Raises
        `Retryable` if other writers keep adding or forgetting facts.
        """
        scope, episodes = content.scope, content.episodes
        for session in sorted(content.sessions):
            if self.tombstones.find(scope, session_name(scope, session)):
                raise BadInput(f"session {session} was forgotten in {scope}: forget it in the other scope, too, first")
        for episode in episodes:
            stored = self.memory.episodes.get(scope, episode.id)
            if stored and stored.state != episode.state:
                raise BadInput(f"session {episode.session_id} has another episode in {scope}: forget one of them first")
        for episode in episodes:
            self.keep(episode)
        facts, version = self.add_rows(scope, content.rows)
        # Also if nothing was new: a move that broke off may have published nothing yet.
        if episodes:
            state = "\n".join(sorted(f"{each.id} {each.state}" for each in episodes))
            event = unembedded(EpisodesUnembedded, scope, state=state, at=self.clock())
            self.bus.publish(event, priority=Priority.BULK)
        if content.rows:
            self.bus.publish(unembedded(FactsUnembedded, scope, state=version, at=self.clock()))
        return facts

    def keep(self, episode: Episode) -> bool:
        """Store *episode* without forgotten facts; false if its session has one or was forgotten."""
        scope, episodes = episode.scope, self.memory.episodes
        while not (episodes.get(scope, episode.id) or self.tombstones.find(scope, str(episode.id))):
            wanted = without_candidates(episode, self.tombstones.forms(scope))
            if not isinstance(self.bus.apply(Effects(writes=(SaveEpisode(episode=wanted),))), Conflict):
                return True
        return False

    def add_rows(self, scope: Scope, rows: Sequence[Row]) -> tuple[int, str]:
        """Add the rows that the log of *scope* lacks; return the count of new facts and its version."""
        added = 0
        for _ in range(_REFUSALS):
            log, forgotten = self.memory.facts.read(scope, embedder=NO_VECTORS), self.tombstones.forms(scope)
            new, version = missing_rows(rows, log.rows, forgotten=forgotten, gone=self._gone(scope, rows)), log.version
            for start in range(0, len(new), _AT_ONCE):
                write = AppendFacts(scope=scope, expected=version, rows=new[start : start + _AT_ONCE])
                if isinstance(self.bus.apply(Effects(writes=(write,))), Conflict):
                    break
                added += sum(isinstance(row, Learned) for row in write.rows)
                version = continuation(write).version
            else:
                return added, str(version)
        raise Retryable(f"other writers keep changing the facts of {scope}; move again, nothing is stored twice")

    def _gone(self, scope: Scope, rows: Sequence[Row]) -> Collection[str]:
        sessions = {each.source.session_id for each in occurrences(rows)}
        return {each for each in sessions if self.tombstones.find(scope, session_name(scope, each))}


def missing_rows(
    rows: Sequence[Row], log: Sequence[Row], *, forgotten: Collection[str], gone: Collection[str]
) -> tuple[Row, ...]:
    """Return what a whole log adds to *log*, without *forgotten* texts and *gone* sessions.

    A text that is known already comes as a second fact; the two are merged when they are compared by meaning.
    """
    facts = {row.fact.id for row in rows if isinstance(row, Learned) and exact_form(row.fact.text) in forgotten}
    again = {(fact, source) for fact, source, text in occurrences(rows) if exact_form(text) in forgotten}

    def stays(fact: UUID, source: Source) -> bool:
        return not (fact in facts or (fact, source) in again or source.session_id in gone)

    return tuple(_lacking([_unquoting(bare(each.row)) for each in without(rows, stays).rows], log))


def _unquoting(row: Row) -> Row:
    is_kept = not isinstance(row, Learned) or row.reason in _QUOTELESS
    return row if is_kept else replace(row, reason=LEFT_BEHIND)


def _lacking(rows: Sequence[Row], log: Sequence[Row]) -> Iterator[Row]:
    """Yield each row that *log* lacks. Its own supersessions and decisions of people hold."""
    keys, known = {*map(_key, log)}, FactIndex(embedder_id="", dim=0)
    known.extend(log, {})
    for row in rows:
        if _key(row) not in keys and _is_possible(row, known):
            known.extend([row], {})
            yield row


def _is_possible(row: Row, known: FactIndex) -> bool:
    match row:
        case Superseded(fact_id=old, by=new, is_undone=True):
            gone = known[old].superseded
            return gone is not None and gone.by == new
        case Superseded(fact_id=old, by=new):
            is_apart = new in known.apart_from(old) or old in known.apart_from(new)
            return known[old].is_current and not is_apart and not known.leads_to(new, old)
        case Linked(fact_id=one, other=other):
            return not known.leads_to(one, other) and not known.leads_to(other, one)
        case _:
            return True


def _key(row: Row) -> tuple[object, ...]:
    match row:
        case Learned():
            return "learned", row.fact.id
        case Confirmed():
            return "confirmed", row.fact_id, row.source.event_id, row.text
        case Superseded():
            return "superseded", row.fact_id, row.by, row.at, row.is_undone
        case Linked():
            return "linked", row.fact_id, row.other, row.at if row.by_hand else None
        case Embedded():
            return "embedded", row.fact_id, row.embedded_by
