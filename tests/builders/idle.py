"""Sessions that are touched and go silent, with every worker that has to do with them."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from builders.events import event_of
from builders.model_world import ModelWorld
from nous.bus.base import Bus, Subscription
from nous.bus.redis.accounting import RedisDeliveryStats
from nous.domain.events import SessionEnded, SessionTouched
from nous.domain.scope import Scope
from nous.domain.session_state import SessionState, SessionStatus
from nous.services.session_lifecycle import RecoveryAction, SessionRecovery
from nous.store.base import SessionStates
from workers.episode_summarizer import WORKER as SUMMARIZER
from workers.session_keeper import WORKER as KEEPER

IDLE = 1800.0
"""Seconds."""

TOUCHES = Subscription(KEEPER.name, SessionTouched)
ENDS = Subscription(SUMMARIZER.name, SessionEnded)


class IdleWorld(ModelWorld):
    """A world without a model whose sessions are touched. Nothing is done about them before it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.use(None, SUMMARIZER, KEEPER)

    def touch(self, session: str = "s1", path: Path | None = None, **fields: Any) -> SessionTouched:
        """Publish that *session* moved on at this moment, if *fields* say nothing else."""
        dataref = path.as_uri() if path else None
        known: dict[str, Any] = {"at": self.date(), "time": self.date(), "session_id": session, "dataref": dataref}
        event = event_of(SessionTouched, f"{session} {path} {self.now} {fields}", **{**known, **fields})
        self.bus.publish(event)
        return event

    def fall_silent(self, path: Path | None = None, session: str = "s1") -> SessionTouched:
        """Have *session* touched, and then idle for longer than allowed."""
        touch = self.touch(session, path)
        self.work()
        self.now += IDLE + 1
        return touch

    def lose(self, path: Path, session: str = "s1") -> SessionEnded:
        """Have the end of a session dealt with whose file, at *path*, is not there."""
        told = {"time": self.date(), "session_id": session, "dataref": path.as_uri()}
        event = event_of(SessionEnded, f"{session} {path} is lost", **told)
        self.bus.publish(event)
        self.work()
        return event

    def use_courses(self, session_states: SessionStates) -> None:
        """From now on everybody asks *courses* how far sessions have come."""
        self.context = replace(self.context, session_states=session_states)
        self.attempts = self._made_attempts()

    def session_state(self, session: str = "s1") -> SessionState:
        found = self.store.session_state(Scope(), session)
        assert found is not None
        return found

    def stage(self, session: str = "s1") -> SessionStatus:
        return self.session_state(session).status

    def finisher(self, bus: Bus | None = None, *, delivery_stats: RedisDeliveryStats | None = None) -> SessionRecovery:
        return SessionRecovery(
            context=self.context,
            bus=bus or self.bus,
            delivery_stats=delivery_stats or self.bus,
            dead=self.bus,
            touches=TOUCHES,
            ends=ENDS,
            idle=timedelta(seconds=IDLE),
        )

    def close(self) -> list[RecoveryAction]:
        return list(self.finisher().close())

    def recover(self) -> list[RecoveryAction]:
        """Wait for as long as a session may be idle, then recover."""
        self.now += IDLE + 1
        return list(self.finisher().recover())

    @property
    def ends(self) -> int:
        """How many ends were ever published."""
        return next(iter(self.bus.backlogs(ENDS))).length
