"""How far a session has come, by what was said of it: touches, ends, and ends that were dealt with.

Each of them only moves a latest moment on, so they may be said in any order, and twice: what is known is the same then.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID, uuid5

from nous.domain.events import NAMESPACE, SessionEnded, SessionTouched
from nous.domain.scope import Scope

_SKEW = timedelta(days=1)
"""By how much clocks may differ."""


def is_ahead(moment: datetime, now: datetime) -> bool:
    """Whether *moment* is further in the future than clocks differ: it would be the latest word until then."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) > now + _SKEW


def not_ahead(moment: datetime, now: datetime) -> datetime:
    """*moment*, or *now* where a clock that ran ahead has told it."""
    return now if is_ahead(moment, now) else moment


IDLE = "idle"
"""The reason of an end that nobody said: nothing was heard of the session for a while."""

_LINGERING = timedelta(minutes=1)
"""By how much a session may be touched later than the last entry of its transcript, of which the touch tells."""


class Stage(StrEnum):
    """Where a session stands. Ended means that nothing is left to do."""

    OPEN = "open"
    CLOSING = "closing"
    ENDED = "ended"
    ABANDONED = "abandoned"


UNFINISHED = (Stage.OPEN, Stage.CLOSING, Stage.ABANDONED)
"""The stages by which sessions are listed."""


@dataclass(frozen=True, slots=True, order=True)
class Touch:
    """When a session was last active, whose it is, and the event that said so."""

    at: datetime
    agent_id: str
    event_id: UUID


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """Where its transcript is, as was said at that time; an empty format is to be told from the content."""

    at: datetime
    dataref: str
    format: str = ""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Since when, and why, nobody can finish a session as things are."""

    at: datetime
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A session's course. `by` names the event that brought it here, for the commit.

    `ended_at` is the moment up to which it was said to be over, `handled_at` that up to which this was dealt with.
    """

    scope: Scope
    session_id: str
    by: UUID = field(compare=False)
    touched: Touch | None = None
    named: Reference | None = None
    ended_at: datetime | None = None
    handled_at: datetime | None = None
    given_up: GivenUp | None = None

    @property
    def stage(self) -> Stage:
        if self.touched and (self.ended_at is None or self.touched.at > self.ended_at):
            return Stage.OPEN
        if self.given_up:
            return Stage.ABANDONED
        if self.ended_at and (self.handled_at is None or self.handled_at < self.ended_at):
            return Stage.CLOSING
        return Stage.ENDED

    @property
    def since(self) -> datetime | None:
        """Since when it is at its stage; None where it never began, since it only had turns that nobody asked for."""
        match self.stage:
            case Stage.OPEN:
                return self.touched.at if self.touched else None
            case Stage.ABANDONED:
                return self.given_up.at if self.given_up else None
            case _:
                return self.ended_at


def touched(known: Course | None, event: SessionTouched, *, now: datetime) -> Course:
    """What is known after *event*; a clock that ran ahead is not believed."""
    at = not_ahead(event.at or event.time, now)
    course = _known(known, event)
    if event.dataref:
        named = Reference(at, event.dataref, event.format or "")
        course = replace(course, named=max(course.named or named, named))
    if not event.background:
        touch = Touch(at, event.agent_id, event.id)
        course = replace(course, touched=max(course.touched or touch, touch))
    return _without_giving_up(course) if course.stage is Stage.OPEN else course


def handled(known: Course | None, event: SessionEnded, *, now: datetime) -> Course:
    """What is known once *event* was dealt with, whatever came of it."""
    moment = covered(event, now=now)
    course = _known(known, event, "handled")
    course = replace(
        course,
        ended_at=max(course.ended_at or moment, moment),
        handled_at=max(course.handled_at or moment, moment),
    )
    return course if course.handled_at != course.ended_at else _without_giving_up(course)


def ended_by_idleness(course: Course) -> SessionEnded:
    """The end of a session that was last touched as *course* says: the same event, whoever says it and when."""
    touch = course.touched
    if touch is None:
        raise ValueError(f"session {course.session_id!r} was never active")
    last = touch.at.astimezone(UTC)
    return SessionEnded(
        id=uuid5(NAMESPACE, f"{SessionEnded.type}\n{IDLE}\n{course.scope}\n{course.session_id}\n{last.isoformat()}"),
        time=last,
        source="nous/idle",
        scope=course.scope,
        agent_id=touch.agent_id,
        session_id=course.session_id,
        trace_id=touch.event_id,
        caused_by=touch.event_id,
        dataref=course.named.dataref if course.named else None,
        format=(course.named.format or None) if course.named else None,
        reason=IDLE,
        ended_at=last,
    )


def closed(course: Course, end: SessionEnded) -> Course:
    """What is known once *end*, by idleness, was said."""
    return replace(course, by=uuid5(end.id, "closed"), ended_at=end.time)


def given_up(known: Course | None, end: SessionEnded, *, at: datetime, reason: str) -> Course:
    """What is known once nobody expects *end* to be dealt with."""
    moment = covered(end, now=at)
    course = _known(known, end, "given up")
    return replace(course, ended_at=max(course.ended_at or moment, moment), given_up=GivenUp(at, reason))


def covered(end: SessionEnded, *, now: datetime) -> datetime:
    """The moment up to which *end* speaks for its session: what was done later is not over by it.

    A file is read as it is then, and so tells all that was done until the end was said. What was sent along tells what
    was done until its last entry, or a little later, since whoever touches a session does so after that was written.
    """
    is_file = (end.dataref or "").startswith("file:")
    said = end.time
    if end.ended_at and not is_file and end.time - end.ended_at > _LINGERING:  # who knows no end may say the year 9999
        said = end.ended_at + _LINGERING
    return not_ahead(said, now)


def _known(known: Course | None, event: SessionTouched | SessionEnded, what: str = "") -> Course:
    by = uuid5(event.id, what) if what else event.id
    course = known or Course(scope=event.scope, session_id=event.session_id, by=by)
    return replace(course, by=by)


def _without_giving_up(course: Course) -> Course:
    return replace(course, given_up=None)
