"""Sessions that nobody has ended, and ends that could not be dealt with, are found and brought to their end.

All that is gone by is in the store and in the streams, so any number of processes may do this at once, and be killed at
any moment: each step is one commit, which is refused where somebody else was first, or where the session goes on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID, uuid5

import structlog

from nous.bus.accounting import DeadLetters, Ledger, Letter, Location, Whereabouts
from nous.bus.base import Bus, Committed, Grave, Subscription, Ticket
from nous.domain.effects import Effects, NoteCourse
from nous.domain.errors import BadInput, NotFound, NousError, Unavailable, Unreadable
from nous.domain.events import Event, SessionEnded
from nous.domain.scope import Scope
from nous.domain.session_state import Course, Stage, closed, covered, ended_by_idleness, given_up, handled
from nous.pipeline.worker import Kit, Worker

NOWHERE = "nobody has said where its transcript is"
"""Why a session is given up that was touched and never named a transcript."""

_PAGE = 100

T = TypeVar("T")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done for a session, in words."""

    scope: Scope
    session_id: str
    what: str


class Finisher:
    """Brings sessions to their end.

    One is idle that was not touched for longer than *idle*. *touches* is who notes touches, *ends* who deals with ends.
    """

    def __init__(
        self,
        *,
        kit: Kit,
        bus: Bus,
        ledger: Ledger,
        dead: DeadLetters,
        touches: Subscription,
        ends: Subscription,
        idle: timedelta,
    ) -> None:
        self._kit = kit
        self._bus = bus
        self._ledger = ledger
        self._dead = dead
        self._touches = touches
        self._ends = ends
        self._idle = idle

    def close(self) -> Iterator[Deed]:
        """End every session that is idle: each once, whoever else tries."""
        until = self._known_until()
        if until is not None:
            yield from self._each(Stage.OPEN, self._close, before=until - self._idle)

    def recover(self, *, patiently: bool = False) -> Iterator[Deed]:
        """Have ends dealt with that could not be; give up what nobody can finish as things are.

        *patiently*: only what has been so for as long as a session may be idle. So nothing is tried more often than
        that, whatever comes of it.
        """
        before = self._kit.clock() - self._idle if patiently else None
        for letter in self._dead.each():
            is_end = (letter.group, letter.grave) == (self._ends.group, Grave.DEAD)
            if is_end and (before is None or letter.at < before):
                yield from self._safely(self._deal_with, letter)
        yield from self._each(Stage.CLOSING, self._look_after, before=before)

    def _known_until(self) -> datetime | None:
        """Up to when all touches have been noted; None where some were not even read: theirs may be any session.

        So it is where the server cannot tell, which has lost count of entries that were deleted: until they are read.
        """
        backlogs = self._ledger.backlogs(self._touches)
        if any(backlog.waiting != 0 for backlog in backlogs):
            return None
        in_hand = (backlog.oldest_pending for backlog in backlogs if backlog.oldest_pending)
        return min((self._kit.clock(), *in_hand))

    def _each(
        self, stage: Stage, finish: Callable[[Course], Deed | None], *, before: datetime | None
    ) -> Iterator[Deed]:
        def look(place: tuple[Scope, str]) -> Deed | None:
            course = self._kit.courses.course(*place)
            is_still = course and course.stage is stage and (before is None or (course.since or before) < before)
            return finish(course) if course and is_still else None

        left = 0
        while places := self._kit.courses.sessions(stage, before=before, limit=_PAGE, skip=left):
            for place in places:
                yield from self._safely(look, place)
            # Whatever could not be finished stays first in the list, and must not hide what comes behind it.
            still_there = set(self._kit.courses.sessions(stage, before=before, limit=_PAGE, skip=left))
            left += len(still_there.intersection(places))

    def _safely(self, finish: Callable[[T], Deed | None], what: T) -> Iterator[Deed]:
        """Do one; what goes wrong with it must not keep the others waiting."""
        deed = None
        try:
            deed = finish(what)
        except Unavailable:
            raise
        except NousError as error:
            log.warning("a session could not be finished", reason=str(error), seldom=f"finishing {what}")
        except Exception:  # the outermost call for one session: the others are finished all the same
            log.exception("a session could not be finished", seldom=f"finishing {what}")
        if deed:
            yield deed

    def _close(self, course: Course) -> Deed | None:
        end = ended_by_idleness(course)
        if end.dataref is None:
            return self._give_up(course, end, NOWHERE)
        write = NoteCourse(course=closed(course, end), replaces=course)
        told = f"ended: idle since {end.time:%Y-%m-%d %H:%M:%S} UTC"
        return _deed(end, told) if self._applied(Effects(writes=(write,), events=(end,))) else None

    def _deal_with(self, letter: Letter) -> Deed | None:
        end = self._ledger.event(Ticket(self._ends, letter.lane, letter.entry))
        if not isinstance(end, SessionEnded):
            return None
        course = self._kit.courses.course(end.scope, end.session_id)
        if course and self._is_over(course, end):
            return None
        reason = letter.reason
        if reason.startswith(f"{Unreadable.__name__}:"):
            try:
                self._kit.transcripts.read(end)
            except BadInput as error:
                reason = str(error)
            else:
                return self._redriven(letter, end)
        return self._give_up(course, end, reason)

    def _is_over(self, course: Course, end: SessionEnded) -> bool:
        """Whether the session goes on, or was dealt with since as it was when *end* was said."""
        is_done = course.handled_at and course.handled_at >= covered(end, now=self._kit.clock())
        return course.stage is Stage.OPEN or bool(is_done)

    def _redriven(self, letter: Letter, end: SessionEnded) -> Deed | None:
        with suppress(NotFound):
            if self._dead.redrive(letter, self._ends):
                return _deed(end, "tried again: its transcript can be read now")
        return None

    def _look_after(self, course: Course) -> Deed | None:
        """See that the end of a session that is closing is on its way."""
        end = ended_by_idleness(course)
        match self._ledger.locate(end.id, self._ends).where:
            case Whereabouts.UNKNOWN:
                return self._end_again(course, end)
            case Whereabouts.DONE | Whereabouts.SKIPPED:  # by a release that notes nothing, or it was dropped
                done = handled(course, end, now=self._kit.clock())
                self._applied(Effects(writes=(NoteCourse(course=done, replaces=course),)))
            case _:
                pass
        return None

    def _end_again(self, course: Course, end: SessionEnded) -> Deed | None:
        """Say *end* again; it is told where it was news, by the one of all who try that was first.

        An end that was said lately is not said again, though its entry may be gone: whoever it was for was through with
        it. It is news once nobody remembers it.
        """
        write = NoteCourse(course=replace(course, by=uuid5(course.by, "ended again")), replaces=course)
        is_said = self._applied(Effects(writes=(write,), events=(end,))) and self._is_known(end)
        return _deed(end, "ended again: its end was lost sight of") if is_said else None

    def _is_known(self, end: SessionEnded) -> bool:
        return self._ledger.locate(end.id, self._ends).where is not Whereabouts.UNKNOWN

    def _give_up(self, course: Course | None, end: SessionEnded, reason: str) -> Deed | None:
        now = self._kit.clock()
        if course and course.given_up and course.ended_at and course.ended_at >= covered(end, now=now):
            return None
        write = NoteCourse(course=given_up(course, end, at=now, reason=reason), replaces=course)
        return _deed(end, f"abandoned: {reason}") if self._applied(Effects(writes=(write,))) else None

    def _applied(self, effects: Effects) -> bool:
        return isinstance(self._bus.apply(effects), Committed)


def _deed(end: SessionEnded, what: str) -> Deed:
    return Deed(end.scope, end.session_id, what)


_AT_REST = frozenset({Whereabouts.DONE, Whereabouts.SKIPPED, Whereabouts.DEAD, Whereabouts.PARKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One event of a session's chain, as one worker has it."""

    worker: str
    event_id: UUID
    location: Location

    @property
    def is_at_rest(self) -> bool:
        return self.location.where in _AT_REST

    @property
    def has_failed(self) -> bool:
        return self.location.where in {Whereabouts.DEAD, Whereabouts.PARKED}


def follow(event_id: UUID, kind: type[Event], *, workers: Mapping[str, Worker], ledger: Ledger) -> Iterator[Step]:
    """The steps that the event *event_id* has led to so far, in order.

    Nothing has to remember the chain: what a worker emits has an id that derives from what it was given.
    """
    for worker in workers.values():
        if worker.consumes.type != kind.type:
            continue
        location = ledger.locate(event_id, Subscription(worker.name, worker.consumes))
        if location.where is Whereabouts.UNKNOWN:
            continue
        yield Step(worker=worker.name, event_id=event_id, location=location)
        if location.where is Whereabouts.DONE:
            for emitted in worker.emits:
                yield from follow(_first_emitted(event_id, worker), emitted, workers=workers, ledger=ledger)


def all_at_rest(steps: Iterable[Step]) -> bool:
    return all(step.is_at_rest for step in steps)


def _first_emitted(event_id: UUID, worker: Worker) -> UUID:
    return uuid5(event_id, f"{worker.name}/0")
