"""session_touched → save the session's last activity and its transcript's location."""

from nous.domain.effects import Effects, ExpectSessionState, SaveSessionState
from nous.domain.events import SessionTouched
from nous.domain.session_state import touched
from nous.pipeline.worker import Worker, WorkerContext

NAME = "session-keeper"

NOTHING_NEW = "nothing new"


class SessionKeeper:
    """Tracks each session's last activity, and where its transcript is.

    Heartbeats may arrive in any order: the newest one counts. A heartbeat from before the session's end changes
    nothing, as long as that end is the latest known. A later one reopens the session.
    """

    def __init__(self, context: WorkerContext) -> None:
        self._context = context

    def __call__(self, event: SessionTouched, /) -> Effects:
        known = self._context.session_states.session_state(event.scope, event.session_id)
        session_state = touched(known, event, now=self._context.clock())
        if known and session_state == known:
            expected = ExpectSessionState(scope=session_state.scope, session_id=session_state.session_id, by=known.by)
            return Effects(writes=(expected,), skipped=NOTHING_NEW)
        return Effects(writes=(SaveSessionState(session_state=session_state, replaces=known),))


WORKER = Worker(NAME, SessionTouched, SessionKeeper)
