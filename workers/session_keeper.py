"""session_touched → how far the session has come."""

from typing import Self

from nous.domain.effects import Effects, ExpectCourse, NoteCourse
from nous.domain.events import Event, SessionTouched
from nous.domain.session_state import touched
from nous.pipeline.worker import Kit, Worker

NAME = "session-keeper"

NOTHING_NEW = "nothing new"


class SessionKeeper:
    """Keeps for each session when it was last active, and where its transcript is.

    In whichever order touches arrive, the newest one counts. One that tells of a time before the session's end changes
    nothing, as long as what is known is that; a later one opens it anew.
    """

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @classmethod
    def from_kit(cls, kit: Kit) -> Self:
        return cls(kit)

    def __call__(self, event: Event, /) -> Effects:
        if not isinstance(event, SessionTouched):
            raise TypeError(f"{NAME} consumes {SessionTouched.type}, not {event.type}")
        known = self._kit.courses.course(event.scope, event.session_id)
        course = touched(known, event, now=self._kit.clock())
        if known and course == known:
            expected = ExpectCourse(scope=course.scope, session_id=course.session_id, by=known.by)
            return Effects(writes=(expected,), skipped=NOTHING_NEW)
        return Effects(writes=(NoteCourse(course=course, replaces=known),))


WORKER = Worker(NAME, SessionTouched, SessionKeeper.from_kit)
