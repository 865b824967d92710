"""Name tombstones of what was erased; select stream entries to erase or to amend. No I/O.

A tombstone keeps erased data from coming back: a session is not accepted again, and a text is not learned again. An
entry that was dead-lettered as malformed may still hold the text of a session.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple, cast
from uuid import UUID, uuid5

import orjson
from pydantic import TypeAdapter, ValidationError

from nous.bus.base import Priority
from nous.domain import record_codec
from nous.domain.effects import AppendFacts, Effects, RecordResummaryAttempt, SaveEpisode, SaveSessionState
from nous.domain.episode import NAMESPACE, episode_id
from nous.domain.errors import BadInput
from nous.domain.event_codec import decode, is_of_none
from nous.domain.events import DecisionRecorded, Event, SessionEnded, kinds, own_id, with_text
from nous.domain.fact import occurrences
from nous.domain.scope import Scope
from nous.knowledge.candidate_filter import SuppressedTexts, mark_of
from nous.knowledge.normalize import exact_form

FORGOTTEN = "its session was forgotten"
"""Reason for skipping an event of an erased session that a foreign producer wrote into a stream."""

SCOPE_NAME = "scope"  # name of the tombstone of a whole scope: it holds the time of the erasure and blocks nothing
_FORM = "form:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """Record of an erasure: when it began, and whether it is complete.

    Until it is, *facts* are still being searched for. *marks* are hashes of the texts that were erased, and *aliases*
    ids that its producer gave the session's episode.
    """

    at: datetime
    is_done: bool = False
    facts: tuple[UUID, ...] = ()
    aliases: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()


class WasForgotten(BadInput):
    """The session was erased and stays blocked until its tombstone is lifted."""


def session_name(scope: Scope, session_id: str) -> str:
    return str(episode_id(scope, session_id))


def alias_name(session: str) -> str:
    """Return the name for a producer's id of an episode, given that of a session of that id."""
    return f"alias:{session}"


def name_of(event: Event) -> str:
    """Return the name of the tombstone that blocks *event*; empty if it is of no session."""
    if is_of_none(event.session_id, type(event)):
        return ""
    name = session_name(event.scope, event.session_id)
    return alias_name(name) if isinstance(event, DecisionRecorded) and event.is_aliased else name


def form_name(mark: str) -> str:
    """Return the name for a text, given its hash (`nous.knowledge.candidate_filter.mark_of`)."""
    return f"{_FORM}{mark}"


def text_name(scope: Scope, text: str) -> str:
    return form_name(mark_of(scope, exact_form(text)))


def mark_in(name: str) -> str | None:
    """Return the hash of the text that *name* stands for; None if it is no text's name."""
    return name.removeprefix(_FORM) if name.startswith(_FORM) else None


def fact_name(fact_id: UUID) -> str:
    return f"fact:{fact_id}"


def told_by(effects: Effects) -> Iterator[tuple[Scope, str]]:
    """Yield, by scope and name, the tombstones of sessions and texts that block *effects*."""
    for write in effects.writes:
        match write:
            case AppendFacts(scope=scope, rows=rows):
                yield from ((scope, session_name(scope, each.source.session_id)) for each in occurrences(rows))
            case SaveEpisode(episode=episode):
                yield episode.scope, str(episode.id)
            case RecordResummaryAttempt():
                yield write.scope, str(write.episode_id)
            case SaveSessionState(session_state=session_state):
                yield session_state.scope, session_name(session_state.scope, session_state.session_id)
            case _:
                pass
    yield from texts_told_by(effects)


def texts_told_by(effects: Effects) -> Iterator[tuple[Scope, str]]:
    """Yield, by scope and name, the tombstones of texts of facts that block *effects*."""
    for write in effects.writes:
        match write:
            case AppendFacts(scope=scope, rows=rows):
                yield from ((scope, text_name(scope, each.text)) for each in occurrences(rows))
            case SaveEpisode(episode=episode, replaces=replaces):
                for fact in (*episode.candidate_facts, *(replaces.candidate_facts if replaces else ())):
                    yield episode.scope, text_name(episode.scope, fact.text)
            case _:
                pass


def refusal(event: Event, raw: bytes) -> WasForgotten:
    tombstone = record_codec.decode(Tombstone, raw)
    return WasForgotten(
        f"session {event.session_id} of scope {event.scope} was forgotten on {tombstone.at:%Y-%m-%d %H:%M}; "
        "publish with --again to let it back"
    )


NOBODY = UUID(int=0)  # placeholder for the id of an event that has none
_SCOPES = TypeAdapter(Scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureTarget:
    """Selection of what to erase in *scope*: everything, one session, or mentions of *facts*.

    Candidate facts with one of *marks* (hashes of texts) are removed from the events that announced their episodes.
    *episodes* are those whose cached answers go, and *aliases* producers' ids of the session's episode, under which
    decisions were recorded.
    """

    scope: Scope
    everything: bool = False
    session_id: str | None = None
    aliases: frozenset[str] = frozenset()
    facts: frozenset[UUID] = frozenset()
    marks: frozenset[str] = frozenset()
    episodes: frozenset[UUID] = frozenset()

    @property
    def forms(self) -> SuppressedTexts:
        return SuppressedTexts(self.scope, self.marks)

    def and_(self, more: "ErasureTarget") -> "ErasureTarget":
        return replace(
            self,
            facts=self.facts | more.facts,
            marks=self.marks | more.marks,
            episodes=self.episodes | more.episodes,
            aliases=self.aliases | more.aliases,
        )

    def takes(self, entry: "EntryHead") -> bool:
        """Return whether to erase *entry*; one without a readable scope goes with its session."""
        if entry.scope is None:
            return self.names(entry.session_id, entry.kind)
        if entry.scope != self.scope:
            return False
        return self.everything or self.names(entry.session_id, entry.kind) or bool(self.facts & entry.facts)

    def names(self, session_id: str | None, kind: str) -> bool:
        """Return whether an event of *kind* with that *session_id* is about the session."""
        is_aliased = kind == DecisionRecorded.type and session_id in self.aliases
        return session_id is not None and (session_id == self.session_id or is_aliased)


class EntryHead(NamedTuple):
    """Identity of an entry; its scope is None if unreadable, its session if it has none.

    `alias` is the producer's id of the episode, if the end of a session states one. A decision may have such an id in
    the place of its session's (`is_aliased`).
    """

    event_id: UUID
    kind: str
    scope: Scope | None
    session_id: str | None
    alias: str
    is_aliased: bool
    facts: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class ErasableEntry:
    """An entry to erase; *amended* replaces its event if anything is left of that."""

    stream: str
    kind: str
    priority: Priority
    id: str
    event_id: UUID
    amended: bytes = b""


@dataclass(slots=True)
class ErasureMatches:
    """Entries, of *sessions*, and ids of dead letters to erase.

    *others* are events of sessions with the same name in other scopes. *named* are sessions of the scope, and *aliases*
    pairs of such a session and an id that its end gave its episode. *unreadable* counts entries that stay, since their
    owner is unknown.
    """

    entries: list[ErasableEntry] = field(default_factory=list[ErasableEntry])
    letters: list[str] = field(default_factory=list[str])
    sessions: set[str] = field(default_factory=set[str])
    others: set[UUID] = field(default_factory=set[UUID])
    named: set[str] = field(default_factory=set[str])
    aliases: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    unreadable: int = 0

    def note(self, head: EntryHead) -> None:
        """Note the session of an entry in the scope, and the id of its episode."""
        if head.session_id and not head.is_aliased:
            self.named.add(head.session_id)
            self.aliases |= {(head.session_id, head.alias)} if head.alias else set()

    @property
    def events(self) -> frozenset[UUID]:
        return frozenset(entry.event_id for entry in self.entries) - {NOBODY}


def said(raw: bytes, kind: str, *, at: datetime | None = None) -> EntryHead | None:
    """Parse the identity of an entry in a stream of *kind*; None if it is not a JSON object."""
    try:
        message = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(message, dict):
        return None
    envelope = cast("dict[str, Any]", message)
    inner = envelope.get("data")
    data = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
    own = own_id(data) or ""
    session = data.get("session_id") or (own if kind == DecisionRecorded.type else "") or envelope.get("subject")
    has_session = isinstance(session, str) and not is_of_none(session, kinds().get(kind, Event))
    return EntryHead(
        event_id=_event_id(envelope, raw, kind, at),
        kind=kind,
        scope=_scope(data.get("scope")) if isinstance(inner, dict) else None,
        session_id=session if has_session else None,
        alias=own if kind == SessionEnded.type else "",
        is_aliased=kind == DecisionRecorded.type and bool(own) and (data.get("session_id") or own) == own,
        facts=frozenset(found for name in ("fact_id", "other_fact_id") if (found := _uuid(data.get(name))) is not None),
    )


def amended(raw: bytes, forms: Collection[str], *, event_id: UUID) -> bytes | None:
    """Return the entry *raw* without candidate facts of *forms*; None if it has none of them.

    Its id is written into it, since it may have been derived from the original content. An entry that is nested too
    deeply to be written becomes empty.
    """
    message: Any = orjson.loads(raw)
    data: Any = message.get("data")
    candidates: Any = data.get("candidate_facts") if isinstance(data, dict) else None
    if not isinstance(candidates, list):
        return None
    left = [each for each in cast("list[Any]", candidates) if exact_form(_text(each)) not in forms]
    if len(left) == len(cast("Sequence[Any]", candidates)):
        return None
    data["candidate_facts"] = left
    if event_id != NOBODY and not message.get("id"):
        message["id"] = event_id
    try:
        return orjson.dumps(message)
    except orjson.JSONEncodeError:
        return b""


def _text(candidate: Any) -> str:
    said = with_text(candidate)
    text: object = cast("dict[str, Any]", said).get("text") if isinstance(said, dict) else ""
    return text if isinstance(text, str) else ""


def _event_id(message: dict[str, Any], raw: bytes, kind: str, at: datetime | None) -> UUID:
    if given := message.get("id"):
        return _uuid(given) or uuid5(NAMESPACE, str(given))
    try:
        return decode(raw, type_hint=kind, accepted_at=at).id
    except BadInput:
        return NOBODY


def _scope(given: Any) -> Scope | None:
    """Return the scope as a worker reads it; None if it is invalid."""
    try:
        if isinstance(given, str) and given:
            return Scope.parse(given)
        return _SCOPES.validate_python(given or Scope())
    except (BadInput, ValidationError):
        return None


def _uuid(value: Any) -> UUID | None:
    try:
        return UUID(str(value))
    except ValueError:
        return None
