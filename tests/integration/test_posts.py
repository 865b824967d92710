"""What runs beside the workers of a process does so from the start."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid5

import pytest

from nous.app import World, fleet
from nous.domain.events import NAMESPACE, FactLearned, SessionTouched
from nous.domain.scope import Scope
from nous.domain.session_state import Stage
from nous.settings.model import WorkerSettings


@contextmanager
def running(world: World, *names: str) -> Generator[None]:
    crew = fleet(world, names, open_quarantine=lambda _: None)
    crew.start()
    try:
        yield
    finally:
        crew.stop()
        crew.wait()


@pytest.fixture
def brisk(world: World) -> World:
    """A world in which everybody looks again soon."""
    settings = world.settings.model_copy(update={"worker": WorkerSettings(sweep_interval=0.1)})
    return replace(world, settings=settings)


def test_whichever_worker_runs_what_is_old_is_removed_at_once(brisk: World, wait_until: Any) -> None:
    stream, client = f"nous:events:{FactLearned.type}", brisk.client
    client.xadd(stream, {"event": "{}"}, id="1-1")

    with running(brisk, "session-anchorer"):
        wait_until(lambda: not client.xlen(stream), "what was said in 1970 to go", seconds=10)


def test_who_notes_touches_looks_after_sessions_that_are_idle(brisk: World, wait_until: Any) -> None:
    name, at = uuid5(NAMESPACE, "a touch"), datetime.now(UTC) - timedelta(days=1)
    brisk.bus.publish(
        SessionTouched(
            id=name, time=at, at=at, source="tests", scope=Scope(), agent_id="a", session_id="s1", trace_id=name
        )
    )

    def is_given_up() -> bool:
        course = brisk.kit.courses.course(Scope(), "s1")
        return course is not None and course.stage is Stage.ABANDONED

    with running(brisk, "session-keeper"):
        wait_until(is_given_up, "the session to be given up, of which nobody has said where it is", seconds=10)
