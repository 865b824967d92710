"""The worker that notes how far sessions have come."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.idle import TOUCHES, IdleWorld

from nous.bus.base import Conflict, Priority
from nous.domain.effects import Effects, SaveSessionState
from nous.domain.session_state import SessionStatus, closed
from nous.services.session_lifecycle import ended_by_idleness
from workers.session_keeper import NOTHING_NEW, WORKER

PATH = Path("/sessions/s1.jsonl")


@pytest.fixture
def world() -> IdleWorld:
    return IdleWorld()


def handled(world: IdleWorld, event: Any) -> Effects:
    return WORKER.handler_factory(world.context)(event)


def test_a_touch_opens_a_session_and_says_where_its_transcript_is(world: IdleWorld) -> None:
    touch = world.touch(path=PATH, format="qbit")
    world.work()

    session_state = world.session_state()
    assert (session_state.status, session_state.since) == (SessionStatus.OPEN, touch.at)
    assert session_state.touched is not None
    assert (session_state.touched.agent_id, session_state.touched.event_id) == ("tester", touch.id)
    assert session_state.named is not None
    assert (session_state.named.dataref, session_state.named.format) == (PATH.as_uri(), "qbit")


def test_the_newest_touch_counts_in_whichever_order_they_come(world: IdleWorld) -> None:
    newest = world.touch(path=PATH)
    world.touch(at=world.date() - timedelta(minutes=5))
    world.work()

    assert world.session_state().since == newest.at
    assert world.account(TOUCHES.group).skipped == {NOTHING_NEW: 1}


def test_touches_that_two_processes_note_at_once_are_both_noted(world: IdleWorld) -> None:
    world.touch(path=PATH)
    world.now += 1
    later = world.touch()
    first, second = world.bus.receive(TOUCHES, priority=Priority.LIVE, limit=2, lease=60)
    stale = [handled(world, each.event) for each in (first, second)]

    world.bus.commit(first, stale[0])
    world.bus.commit(second, stale[1])  # refused, and done anew
    world.work(120, step=61)

    session_state = world.session_state()
    assert (session_state.since, session_state.named is not None) == (later.at, True)


def test_that_there_is_nothing_new_holds_only_while_what_was_found_is_there(world: IdleWorld) -> None:
    world.touch(path=PATH)
    world.work()
    found = world.session_state()
    world.touch(at=world.date() - timedelta(minutes=5))
    [delivery] = world.bus.receive(TOUCHES, priority=Priority.LIVE, limit=1, lease=60)
    effects = handled(world, delivery.event)
    assert effects.skipped == NOTHING_NEW

    now = closed(found, ended_by_idleness(found))
    world.store.apply([SaveSessionState(session_state=now, replaces=found)])

    assert isinstance(world.bus.commit(delivery, effects), Conflict)
    world.work(120, step=61)
    assert (world.session_state(), world.account(TOUCHES.group).skipped) == (now, {NOTHING_NEW: 1})
