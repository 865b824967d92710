"""End idle sessions, recover those whose end failed, and follow an event through workers.

All state is in the store and in the streams. Any number of processes may do this concurrently, and be killed at any
moment: each step is one commit, which gets a conflict if another process was first, or if the session goes on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import UUID, uuid5

import structlog

from nous.bus.accounting import DeadLetter, EventLocation, EventStatus
from nous.bus.base import Bus, Committed, DeadLetterKind, DeliveryRef, Subscription
from nous.bus.redis.accounting import RedisDeadLetterQueue, RedisDeliveryStats
from nous.domain.effects import Effects, SaveSessionState
from nous.domain.episode import NAMESPACE
from nous.domain.errors import BadInput, NotFound, NousError, Unavailable, Unreadable
from nous.domain.events import Event, SessionEnded
from nous.domain.scope import Scope
from nous.domain.session_state import (
    IDLE,
    SessionState,
    SessionStatus,
    abandoned,
    closed,
    covered_by_episode,
    end_handled,
)
from nous.pipeline.worker import Worker, WorkerContext

NOWHERE = "no event has named its transcript"
"""Reason for abandoning a session that was touched and never named a transcript."""

_ALL = 10**9

T = TypeVar("T")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RecoveryAction:
    scope: Scope
    session_id: str
    what: str


def ended_by_idleness(session_state: SessionState) -> SessionEnded:
    """Return the one event that ends an idle session. ValueError if it was never active."""
    scope, session_id, touch = session_state.scope, session_state.session_id, session_state.touched
    if touch is None:
        raise ValueError(f"session {session_id!r} was never active")
    last = touch.at.astimezone(UTC)
    return SessionEnded(
        id=uuid5(NAMESPACE, "\n".join((SessionEnded.type, IDLE, str(scope), session_id, last.isoformat()))),
        time=last,
        source="nous/idle",
        scope=scope,
        agent_id=touch.agent_id,
        session_id=session_id,
        trace_id=touch.event_id,
        caused_by=touch.event_id,
        dataref=session_state.named.dataref if session_state.named else None,
        format=(session_state.named.format or None) if session_state.named else None,
        reason=IDLE,
        ended_at=last,
    )


@dataclass(eq=False, kw_only=True)
class SessionRecovery:
    """Ends sessions not touched for *idle*, and stuck ends, by the groups *touches* and *ends*."""

    context: WorkerContext
    bus: Bus
    delivery_stats: RedisDeliveryStats
    dead: RedisDeadLetterQueue
    touches: Subscription
    ends: Subscription
    idle: timedelta
    _failing: set[str] = field(init=False, default_factory=set[str])

    def close(self) -> Iterator[RecoveryAction]:
        """End every idle session, each exactly once, also with concurrent callers."""
        until = self._known_until()
        if until is not None:
            yield from self._each(SessionStatus.OPEN, self._close, before=until - self.idle)

    def recover(self) -> Iterator[RecoveryAction]:
        """Retry ends that failed, and abandon sessions that cannot be finished as things are.

        Only those that have been so for as long as a session may be idle, which limits how often that is.
        """
        before = self.context.clock() - self.idle
        for letter in self.dead.each():
            is_end = (letter.group, letter.letter_kind) == (self.ends.group, DeadLetterKind.DEAD)
            if is_end and letter.at < before:
                yield from self._safely(self._recover_dead_letter, letter, of=f"entry {letter.entry}")
        yield from self._each(SessionStatus.CLOSING, self._check_closing, before=before)

    def _known_until(self) -> datetime | None:
        """Return the time up to which all touches are recorded; None if some may be unread.

        An unread touch may belong to any session. After entries were deleted, the server does not know how many are
        unread.
        """
        backlogs = self.delivery_stats.backlogs(self.touches)
        if any(backlog.waiting != 0 for backlog in backlogs):
            return None
        in_hand = (backlog.oldest_pending for backlog in backlogs if backlog.oldest_pending)
        return min((self.context.clock(), *in_hand))

    def _each(
        self, stage: SessionStatus, finish: Callable[[SessionState], RecoveryAction | None], *, before: datetime
    ) -> Iterator[RecoveryAction]:
        def look(place: tuple[Scope, str]) -> RecoveryAction | None:
            session_state = self.context.session_states.session_state(*place)
            if session_state is None or session_state.status is not stage:
                return None
            is_too_new = session_state.since and session_state.since >= before
            return None if is_too_new else finish(session_state)

        for place in self.context.session_states.sessions(stage, before=before, limit=_ALL):
            yield from self._safely(look, place, of="/".join(map(str, place)))

    def _safely(self, finish: Callable[[T], RecoveryAction | None], what: T, *, of: str) -> Iterator[RecoveryAction]:
        """Yield what *finish* does; log its failure once, as sweeps repeat it every few seconds."""
        try:
            action = finish(what)
        except Unavailable:
            raise
        except Exception as error:  # a defect of nous, too, stops the sweep of no other session
            if of not in self._failing:
                is_defect = not isinstance(error, NousError)
                log.warning("session.recovery_failed", of=of, reason=str(error), exc_info=is_defect)
            self._failing.add(of)
        else:
            self._failing.discard(of)
            if action:
                yield action

    def _close(self, session_state: SessionState) -> RecoveryAction | None:
        end = ended_by_idleness(session_state)
        if end.dataref is None:
            return self._abandon(session_state, end, NOWHERE)
        what = f"ended: idle since {end.time:%Y-%m-%d %H:%M:%S} UTC"
        return self._moved(session_state, closed(session_state, end), end, what, publish=True)

    def _recover_dead_letter(self, letter: DeadLetter) -> RecoveryAction | None:
        end = self.delivery_stats.event(DeliveryRef(self.ends, letter.priority, letter.entry))
        if not isinstance(end, SessionEnded):
            return None
        session_state = self.context.session_states.session_state(end.scope, end.session_id)
        if session_state and self._is_over(session_state, end):
            return None
        reason = letter.reason
        if reason.startswith(f"{Unreadable.__name__}:"):
            try:
                self.context.transcripts.read(end)
            except BadInput as error:
                reason = str(error)
            else:
                return self._redriven(letter, end)
        return self._abandon(session_state, end, reason)

    def _is_over(self, session_state: SessionState, end: SessionEnded) -> bool:
        is_done = session_state.handled_at and session_state.handled_at >= covered_by_episode(
            end, now=self.context.clock()
        )
        return session_state.status is SessionStatus.OPEN or bool(is_done)

    def _redriven(self, letter: DeadLetter, end: SessionEnded) -> RecoveryAction | None:
        with suppress(NotFound):
            if self.dead.redrive(letter, self.ends):
                return RecoveryAction(end.scope, end.session_id, "tried again: its transcript can be read now")
        return None

    def _check_closing(self, session_state: SessionState) -> RecoveryAction | None:
        end = ended_by_idleness(session_state)
        match self.delivery_stats.locate(end.id, self.ends).where:
            case EventStatus.UNKNOWN:
                again = replace(session_state, by=uuid5(session_state.by, "ended again"))
                return self._moved(session_state, again, end, "ended again: its end event was lost", publish=True)
            case EventStatus.DONE | EventStatus.SKIPPED:  # by a release that records no states, or the end was dropped
                self._moved(session_state, end_handled(session_state, end, now=self.context.clock()), end, "finished")
            case _:
                pass
        return None

    def _abandon(self, session_state: SessionState | None, end: SessionEnded, reason: str) -> RecoveryAction | None:
        now = self.context.clock()
        ended_at = session_state.ended_at if session_state and session_state.given_up else None
        if ended_at and ended_at >= covered_by_episode(end, now=now):
            return None
        return self._moved(
            session_state, abandoned(session_state, end, at=now, reason=reason), end, f"abandoned: {reason}"
        )

    def _moved(
        self, before: SessionState | None, after: SessionState, end: SessionEnded, what: str, *, publish: bool = False
    ) -> RecoveryAction | None:
        """Move a session and *publish* its end; None if another was first, or the session goes on."""
        write = SaveSessionState(session_state=after, replaces=before)
        verdict = self.bus.apply(Effects(writes=(write,), events=(end,) if publish else ()))
        return RecoveryAction(end.scope, end.session_id, what) if isinstance(verdict, Committed) else None


_AT_REST = frozenset({EventStatus.DONE, EventStatus.SKIPPED, EventStatus.DEAD, EventStatus.PARKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainStep:
    worker: str
    event_id: UUID
    location: EventLocation

    @property
    def is_at_rest(self) -> bool:
        return self.location.where in _AT_REST

    @property
    def has_failed(self) -> bool:
        return self.location.where in {EventStatus.DEAD, EventStatus.PARKED}


def follow(
    event_id: UUID, kind: type[Event], *, workers: Mapping[str, Worker], delivery_stats: RedisDeliveryStats
) -> Iterator[ChainStep]:
    """Yield the steps that *event_id* led to, in order; ids of emitted events derive from it."""
    for worker in workers.values():
        if worker.consumes.type != kind.type:
            continue
        location = delivery_stats.locate(event_id, Subscription(worker.name, worker.consumes))
        if location.where is EventStatus.UNKNOWN:
            continue
        yield ChainStep(worker=worker.name, event_id=event_id, location=location)
        if location.where is EventStatus.DONE:
            for emitted in worker.emits:
                first = uuid5(event_id, f"{worker.name}/0")
                yield from follow(first, emitted, workers=workers, delivery_stats=delivery_stats)


def all_at_rest(steps: Iterable[ChainStep]) -> bool:
    return all(step.is_at_rest for step in steps)
