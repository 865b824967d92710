"""Session state machine: compute open, closing, ended or abandoned from events. No I/O.

Heartbeats, ends, and ends that were handled may arrive in any order, and twice: the resulting state is the same. A
heartbeat after an abandonment opens the session again.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from nous.domain.scope import Scope

if TYPE_CHECKING:
    from nous.domain.events import SessionEnded, SessionTouched

_SKEW = timedelta(days=1)  # maximum clock skew


def is_ahead(moment: datetime, now: datetime) -> bool:
    """Return whether *moment* is further ahead than clocks differ: it would outrank all others."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) > now + _SKEW


def not_ahead(moment: datetime, now: datetime) -> datetime:
    """Return *moment*, or *now* if *moment* comes from a clock that is ahead."""
    return now if is_ahead(moment, now) else moment


IDLE = "idle"  # reason of an end that no agent reported: the session was idle for a while

_LINGERING = timedelta(minutes=1)
"""How much later than the last entry of its transcript a session's heartbeat may be."""


class SessionStatus(StrEnum):
    """Status of a session; ENDED means that nothing is left to do."""

    OPEN = "open"
    CLOSING = "closing"
    ENDED = "ended"
    ABANDONED = "abandoned"


UNFINISHED = (SessionStatus.OPEN, SessionStatus.CLOSING, SessionStatus.ABANDONED)
"""The statuses by which sessions are listed."""


@dataclass(frozen=True, slots=True, order=True)
class Touch:
    """Time of a session's last activity, its agent, and the event that reported it."""

    at: datetime
    agent_id: str
    event_id: UUID


@dataclass(frozen=True, slots=True, order=True)
class TranscriptReference:
    """Reported location of the transcript; an empty format is detected from the content."""

    at: datetime
    dataref: str
    format: str = ""


@dataclass(frozen=True, slots=True)
class Abandonment:
    """Since when, and why, a session cannot be finished."""

    at: datetime
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """State of a session; `by` is the event that led to it, for the precondition of a commit.

    `ended_at` is up to when the session was reported as over, `handled_at` up to when its end was handled.
    """

    scope: Scope
    session_id: str
    by: UUID = field(compare=False)
    touched: Touch | None = None
    named: TranscriptReference | None = None
    ended_at: datetime | None = None
    handled_at: datetime | None = None
    given_up: Abandonment | None = None

    @property
    def status(self) -> SessionStatus:
        if self.touched and (self.ended_at is None or self.touched.at > self.ended_at):
            return SessionStatus.OPEN
        if self.given_up:
            return SessionStatus.ABANDONED
        if self.ended_at and (self.handled_at is None or self.handled_at < self.ended_at):
            return SessionStatus.CLOSING
        return SessionStatus.ENDED

    @property
    def since(self) -> datetime | None:
        """Time since which the session has its status; None if it only had background turns."""
        match self.status:
            case SessionStatus.OPEN:
                return self.touched.at if self.touched else None
            case SessionStatus.ABANDONED:
                return self.given_up.at if self.given_up else None
            case _:
                return self.ended_at


def touched(known: SessionState | None, event: "SessionTouched", *, now: datetime) -> SessionState:
    """Return the state after *event*; a time from a clock that is ahead is replaced by *now*."""
    at = not_ahead(event.at or event.time, now)
    session_state = _known(known, event)
    if event.dataref:
        named = TranscriptReference(at, event.dataref, event.format or "")
        session_state = replace(session_state, named=max(session_state.named or named, named))
    if not event.background:
        touch = Touch(at, event.agent_id, event.id)
        session_state = replace(session_state, touched=max(session_state.touched or touch, touch))
    return replace(session_state, given_up=None) if session_state.status is SessionStatus.OPEN else session_state


def end_handled(known: SessionState | None, event: "SessionEnded", *, now: datetime) -> SessionState:
    moment = covered_by_episode(event, now=now)
    session_state = _known(known, event, "handled")
    session_state = replace(
        session_state,
        ended_at=max(session_state.ended_at or moment, moment),
        handled_at=max(session_state.handled_at or moment, moment),
    )
    is_done = session_state.handled_at == session_state.ended_at
    return replace(session_state, given_up=None) if is_done else session_state


def closed(session_state: SessionState, end: "SessionEnded") -> SessionState:
    """Return the state after *end*, for idleness, was published."""
    return replace(session_state, by=uuid5(end.id, "closed"), ended_at=end.time)


def abandoned(known: SessionState | None, end: "SessionEnded", *, at: datetime, reason: str) -> SessionState:
    moment = covered_by_episode(end, now=at)
    session_state = _known(known, end, "given up")
    return replace(
        session_state, ended_at=max(session_state.ended_at or moment, moment), given_up=Abandonment(at, reason)
    )


def covered_by_episode(end: "SessionEnded", *, now: datetime) -> datetime:
    """Return the time up to which *end* covers its session; later activity reopens it.

    A file is read when the end is handled, so it covers everything up to the publication of the end. An uploaded
    transcript covers everything up to its last entry, or a little later, since a heartbeat is sent after the entry.
    """
    is_file = (end.dataref or "").startswith("file:")
    covered = end.time
    # Not simply `end.time`: a client that knows no end may send the year 9999.
    if end.ended_at and not is_file and end.time - end.ended_at > _LINGERING:
        covered = end.ended_at + _LINGERING
    return not_ahead(covered, now)


def _known(known: SessionState | None, event: "SessionTouched | SessionEnded", what: str = "") -> SessionState:
    by = uuid5(event.id, what) if what else event.id
    return replace(known, by=by) if known else SessionState(scope=event.scope, session_id=event.session_id, by=by)
