"""On session_touched, save the session's last activity time and its transcript's location."""

from functools import partial

from nous.domain.effects import Effects, ExpectSessionState, SaveSessionState
from nous.domain.events import SessionTouched
from nous.domain.session_state import touched
from nous.pipeline.worker import Worker, WorkerContext

NAME = "session-keeper"

NOTHING_NEW = "nothing new"


def keep(context: WorkerContext, event: SessionTouched, /) -> Effects:
    """Save the newest heartbeat; heartbeats may arrive in any order.

    One from before the session's end changes nothing, as long as that end is the latest known. A later one reopens the
    session.
    """
    known = context.session_states.session_state(event.scope, event.session_id)
    session_state = touched(known, event, now=context.clock())
    if known and session_state == known:
        expected = ExpectSessionState(scope=session_state.scope, session_id=session_state.session_id, by=known.by)
        return Effects(writes=(expected,), skipped=NOTHING_NEW)
    return Effects(writes=(SaveSessionState(session_state=session_state, replaces=known),))


WORKER = Worker(NAME, SessionTouched, lambda context: partial(keep, context))
