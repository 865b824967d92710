"""What runs beside the workers of a process does so from the start."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid5

import pytest
from builders.crew import working

from nous.app.container import Container
from nous.domain.episode import NAMESPACE
from nous.domain.events import FactLearned, SessionTouched
from nous.domain.scope import Scope
from nous.domain.session_state import SessionStatus
from nous.settings.model import WorkerSettings


@pytest.fixture
def brisk(container: Container) -> Container:
    """A world in which everybody looks again soon."""
    settings = container.settings.model_copy(update={"worker": WorkerSettings(sweep_interval=0.1)})
    return container.replaced(settings=settings)


def test_whichever_worker_runs_what_is_old_is_removed_at_once(brisk: Container, wait_until: Any) -> None:
    stream, client = f"nous:events:{FactLearned.type}", brisk.client
    client.xadd(stream, {"event": "{}"}, id="1-1")

    with working(brisk, "session-anchorer"):
        wait_until(lambda: not client.xlen(stream), "what was said in 1970 to go", seconds=10)


def test_who_notes_touches_looks_after_sessions_that_are_idle(brisk: Container, wait_until: Any) -> None:
    name, at = uuid5(NAMESPACE, "a touch"), datetime.now(UTC) - timedelta(days=1)
    brisk.bus.publish(
        SessionTouched(
            id=name, time=at, at=at, source="tests", scope=Scope(), agent_id="a", session_id="s1", trace_id=name
        )
    )

    def is_given_up() -> bool:
        session_state = brisk.context.session_states.session_state(Scope(), "s1")
        return session_state is not None and session_state.status is SessionStatus.ABANDONED

    with working(brisk, "session-keeper"):
        wait_until(is_given_up, "the session to be given up, of which no event names a transcript", seconds=10)
