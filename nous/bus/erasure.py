"""Select raw stream entries to erase, and remove erased facts from others. No I/O.

An entry that was dead-lettered as malformed may still hold the text of a session.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, cast
from uuid import UUID, uuid5

import orjson
from pydantic import TypeAdapter, ValidationError

from nous.bus.base import Priority
from nous.domain.episode import NAMESPACE
from nous.domain.errors import BadInput
from nous.domain.event_codec import decode, is_of_none
from nous.domain.events import Event, kinds
from nous.domain.scope import Scope
from nous.knowledge.normalize import exact_form

NOBODY = UUID(int=0)  # placeholder for the id of an event that has none
_SCOPES = TypeAdapter(Scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureTarget:
    """Selection of what to erase in *scope*: everything, one session, or mentions of *facts*.

    Candidate facts with one of *forms* are removed from the events that announced their episodes.
    """

    scope: Scope
    everything: bool = False
    session_id: str | None = None
    facts: frozenset[UUID] = frozenset()
    forms: Collection[str] = ()

    def takes(self, entry: "EntryHead") -> bool:
        """Return whether to erase *entry*; one without a readable scope goes with its session."""
        if entry.scope is None:
            return self._names(entry)
        if entry.scope != self.scope:
            return False
        return self.everything or self._names(entry) or bool(self.facts & entry.facts)

    def is_of_another(self, entry: "EntryHead") -> bool:
        """Return whether *entry* is of a session with the same name in another scope."""
        return self._names(entry) and not self.takes(entry)

    def _names(self, entry: "EntryHead") -> bool:
        return entry.session_id is not None and entry.session_id == self.session_id


class EntryHead(NamedTuple):
    """Identity of an entry; its scope is None if unreadable, its session if it has none."""

    event_id: UUID
    scope: Scope | None
    session_id: str | None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureMatches:
    """Entries, of *sessions*, and ids of dead letters to erase.

    *others* are events of sessions with the same name in other scopes. *unreadable* counts entries that stay, since
    their owner is unknown.
    """

    entries: tuple[ErasableEntry, ...] = ()
    letters: tuple[str, ...] = ()
    sessions: frozenset[str] = frozenset()
    others: frozenset[UUID] = frozenset()
    unreadable: int = 0

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
    session = data.get("session_id") or envelope.get("subject")
    has_session = isinstance(session, str) and not is_of_none(session, kinds().get(kind, Event))
    return EntryHead(
        event_id=_event_id(envelope, raw, kind, at),
        scope=_scope(data.get("scope")) if isinstance(inner, dict) else None,
        session_id=session if has_session else None,
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
    text: object = cast("dict[str, Any]", candidate).get("text") if isinstance(candidate, dict) else candidate
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
