"""Sessions that nobody ends are ended once they are idle, each once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders.answers import SESSION
from builders.idle import ENDS, IDLE, TOUCHES, IdleWorld
from builders.meddled import meddled

from nous.bus.accounting import Backlog
from nous.bus.base import Priority, Subscription
from nous.domain.effects import Effects
from nous.domain.errors import BadInput
from nous.domain.events import SessionEnded
from nous.domain.session_state import SessionStatus
from nous.services.session_lifecycle import NOWHERE


@pytest.fixture
def world() -> IdleWorld:
    return IdleWorld()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s1.txt"
    path.write_text(SESSION)
    return path


def test_a_session_that_is_idle_for_longer_than_allowed_is_ended_once(world: IdleWorld, path: Path) -> None:
    touch = world.touch(path=path)
    world.work()
    world.now += IDLE
    assert world.close() == []

    world.now += 0.001
    deeds = world.close()

    assert [(deed.session_id, deed.what.partition(":")[0]) for deed in deeds] == [("s1", "ended")]
    assert (world.stage(), world.ends) == (SessionStatus.CLOSING, 1)
    assert world.close() == []
    [delivery] = world.bus.receive(ENDS, priority=Priority.LIVE, limit=9, lease=60)
    end = delivery.event
    assert isinstance(end, SessionEnded)
    assert (end.reason, end.dataref, end.agent_id, end.ended_at) == ("idle", path.as_uri(), "tester", touch.at)
    assert end.caused_by == touch.id


def test_two_who_close_at_once_end_it_once(world: IdleWorld, path: Path) -> None:
    world.fall_silent(path)

    first = list(world.finisher(meddled(world.bus, lambda _: world.close())).close())

    assert first == []
    assert (world.stage(), world.ends) == (SessionStatus.CLOSING, 1)


def test_activity_while_it_is_closed_keeps_it_open(world: IdleWorld, path: Path) -> None:
    world.fall_silent(path)

    def go_on(_: Effects) -> None:
        world.touch(path=path)
        world.work()

    assert list(world.finisher(meddled(world.bus, go_on)).close()) == []
    assert (world.stage(), world.ends) == (SessionStatus.OPEN, 0)


def test_nothing_is_closed_while_there_are_touches_that_nobody_has_noted(world: IdleWorld, path: Path) -> None:
    world.fall_silent(path)
    world.touch(path=path)  # and no worker runs

    assert world.close() == []
    world.work()
    assert (world.close(), world.stage()) == ([], SessionStatus.OPEN)


def test_what_was_active_before_a_touch_that_is_in_hand_is_idle_only_as_of_then(world: IdleWorld, path: Path) -> None:
    world.touch(path=path)
    world.work()
    world.now += IDLE - 1
    world.touch(path=path)
    [delivery] = world.bus.receive(TOUCHES, priority=Priority.LIVE, limit=1, lease=60)
    world.now += 2

    assert world.close() == []
    world.bus.commit(delivery, Effects())  # nothing came of it
    assert len(world.close()) == 1


def test_a_turn_that_nobody_asked_for_does_not_keep_a_session_open_nor_open_it(world: IdleWorld, path: Path) -> None:
    world.touch(path=path)
    world.work()
    world.now += IDLE / 2
    world.touch(background=True)
    world.touch("s2", path, background=True)
    world.work()
    world.now += IDLE / 2 + 1

    assert [deed.session_id for deed in world.close()] == ["s1"]
    assert world.stage("s2") is SessionStatus.ENDED


def test_sessions_that_cannot_be_closed_do_not_stop_the_others(world: IdleWorld, path: Path) -> None:
    for number in range(150):
        world.touch(f"bad-{number}", path)
    world.now += 1
    world.touch("good", path)
    world.work()
    world.now += IDLE + 1

    def fail(effects: Effects) -> None:
        if effects.events[0].session_id.startswith("bad"):
            raise BadInput("a test")

    deeds = list(world.finisher(meddled(world.bus, fail)).close())

    assert [deed.session_id for deed in deeds] == ["good"]
    assert len(world.close()) == 150


def test_a_session_that_never_said_where_its_transcript_is_is_given_up_until_it_does(
    world: IdleWorld, path: Path
) -> None:
    world.fall_silent()

    assert [deed.what for deed in world.close()] == [f"abandoned: {NOWHERE}"]
    assert (world.stage(), world.ends, world.close(), world.recover()) == (SessionStatus.ABANDONED, 0, [], [])

    world.touch(path=path)
    world.work()
    assert (world.stage(), world.session_state().given_up) == (SessionStatus.OPEN, None)


def test_a_clock_that_ran_ahead_keeps_no_session_open(world: IdleWorld, path: Path) -> None:
    world.touch(path=path, at=world.date().replace(year=2099))
    world.work()
    world.now += IDLE + 1

    assert [deed.session_id for deed in world.close()] == ["s1"]


def test_nothing_is_closed_where_nobody_can_tell_whether_there_are_touches_that_were_not_noted(
    world: IdleWorld, path: Path
) -> None:
    class Unsure:
        def backlogs(self, subscription: Subscription) -> list[Backlog]:
            return [replace(each, waiting=None) for each in world.bus.backlogs(subscription)]

    delivery_stats: Any = Unsure()
    world.fall_silent(path)

    assert list(world.finisher(delivery_stats=delivery_stats).close()) == []
    assert len(world.close()) == 1
