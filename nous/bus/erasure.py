"""What has to go from the streams when something is forgotten, told from the bytes of an entry alone.

An entry is read more leniently than by whoever handles it: what was set aside because it makes no sense may hold the
words of a session all the same.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol, cast
from uuid import UUID, uuid5

import orjson
from pydantic import TypeAdapter, ValidationError

from nous.bus.base import Lane
from nous.domain.errors import BadInput
from nous.domain.event_codec import decode, is_of_none
from nous.domain.events import NAMESPACE, Event, kinds
from nous.domain.scope import Scope
from nous.facts.normalize import exact_form

NOBODY = UUID(int=0)
"""Stands for the id of an event that has none."""


_SCOPES = TypeAdapter(Scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to go of *scope*: all of it, a session, or what speaks of *facts*.

    Candidates that say something of *forms* go from the episodes that were announced with them.
    """

    scope: Scope
    everything: bool = False
    session_id: str | None = None
    facts: frozenset[UUID] = frozenset()
    forms: Collection[str] = ()

    def takes(self, entry: "Said") -> bool:
        """Whether *entry* has to go. One that tells no scope, which nobody could handle, goes with its session."""
        if entry.scope is None:
            return self._names(entry)
        if entry.scope != self.scope:
            return False
        return self.everything or self._names(entry) or bool(self.facts & entry.facts)

    def is_of_another(self, entry: "Said") -> bool:
        """Whether *entry* is of a session of the same name, in another scope."""
        return self._names(entry) and not self.takes(entry)

    def _names(self, entry: "Said") -> bool:
        return entry.session_id is not None and entry.session_id == self.session_id


class Said(NamedTuple):
    """What an entry says of itself. `scope` is None where it cannot be read, `session_id` where it is of no session."""

    event_id: UUID
    scope: Scope | None
    session_id: str | None
    facts: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry that has to go; *amended* is what is told in its place, if anything is left of it."""

    stream: str
    kind: str
    lane: Lane
    id: str
    event_id: UUID
    amended: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What has to go from the bus: entries, of which *sessions*, and the ids of letters.

    *others* are events of sessions of the same name in other scopes; *unreadable* counts entries that stay, since they
    do not tell whose they are.
    """

    entries: tuple[Entry, ...] = ()
    letters: tuple[str, ...] = ()
    sessions: frozenset[str] = frozenset()
    others: frozenset[UUID] = frozenset()
    unreadable: int = 0

    @property
    def events(self) -> frozenset[UUID]:
        return frozenset(entry.event_id for entry in self.entries) - {NOBODY}


class BusErasure(Protocol):
    """Takes from the bus what was forgotten. Each call may be made again, and then finds less to do.

    Every method raises `Unavailable` when the server does not answer.
    """

    def find(self, wanted: Wanted) -> Found:
        """Read every stream, and say what has to go."""
        ...

    def erase(self, found: Found) -> "Counter[str]":
        """Let the entries and letters go, and count them.

        Whoever has such a delivery in hand cannot commit it any more. Each group that had not finished with it counts
        it as erased, and is offered what is told in its place; for the others that is done, or dead, as the entry was.
        """
        ...

    def purge(self) -> int:
        """Write anew the streams that still hold the bytes of what was deleted; returns how many. For after `erase`."""
        ...

    def purge_files(self) -> bool:
        """Have the server write anew its files that still hold what was deleted, and wait for that. For the very end.

        False where the server does not allow it, or takes too long: then that is left to its operator.
        """
        ...


def said(raw: bytes, kind: str, *, at: datetime | None = None) -> Said | None:
    """What the entry *raw* of the stream of *kind*, taken *at*, says of itself; None if it is not even JSON."""
    try:
        message = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(message, dict):
        return None
    told = cast("dict[str, Any]", message)
    inner = told.get("data")
    data = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
    session = data.get("session_id") or told.get("subject")
    has_session = isinstance(session, str) and not is_of_none(session, kinds().get(kind, Event))
    return Said(
        event_id=_event_id(told, raw, kind, at),
        scope=_scope(data.get("scope")) if isinstance(inner, dict) else None,
        session_id=session if has_session else None,
        facts=frozenset(found for name in ("fact_id", "other_fact_id") if (found := _uuid(data.get(name))) is not None),
    )


def amended(raw: bytes, forms: Collection[str], *, event_id: UUID, at: datetime) -> bytes | None:
    """The entry *raw* without the candidate facts that say something of *forms*; None if it has none of them.

    It tells its id and its time, which may have been derived from what it said and when. One that is nested too deeply
    to be written is empty.
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
    derived = {"id": None if event_id == NOBODY else event_id, "time": at}
    message |= {name: value for name, value in derived.items() if value and not message.get(name)}
    try:
        return orjson.dumps(message)
    except orjson.JSONEncodeError:
        return b""


def _text(candidate: Any) -> str:
    text: object = cast("dict[str, Any]", candidate).get("text") if isinstance(candidate, dict) else candidate
    return text if isinstance(text, str) else ""


def _event_id(message: dict[str, Any], raw: bytes, kind: str, at: datetime | None) -> UUID:
    """The id, as whoever handles the entry derives it."""
    if given := message.get("id"):
        return _uuid(given) or uuid5(NAMESPACE, str(given))
    try:
        return decode(raw, type_hint=kind, accepted_at=at).id
    except BadInput:
        return NOBODY


def _scope(given: Any) -> Scope | None:
    """The scope, as whoever handles the entry reads it."""
    try:
        return _SCOPES.validate_python(given or Scope())
    except (BadInput, ValidationError):
        return None


def _uuid(value: Any) -> UUID | None:
    try:
        return UUID(str(value))
    except ValueError:
        return None
