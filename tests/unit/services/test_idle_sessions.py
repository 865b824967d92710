"""Idle sessions are ended, each once; ends that failed are found and finished later, and hopeless ones marked."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders.answers import SESSION
from builders.idle import ENDS, IDLE, TOUCHES, IdleWorld
from builders.meddled import meddled
from structlog.testing import capture_logs

from nous.bus.accounting import Backlog
from nous.bus.base import Priority, Subscription
from nous.domain.effects import Effects, SaveSessionState
from nous.domain.errors import BadInput
from nous.domain.events import SessionEnded
from nous.domain.scope import Scope
from nous.domain.session_state import SessionState, SessionStatus, closed
from nous.services.session_lifecycle import NOWHERE, RecoveryAction, ended_by_idleness


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


@pytest.fixture
def missing(tmp_path: Path) -> Path:
    return tmp_path / "s1.txt"


def the_only(deeds: list[str]) -> str:
    [deed] = deeds
    return deed.partition(":")[0]


def recovered(world: IdleWorld) -> list[str]:
    return [deed.what for deed in world.recover()]


def test_a_session_whose_transcript_is_there_again_is_finished_under_the_same_identity(
    world: IdleWorld, missing: Path
) -> None:
    end = world.lose(missing)
    [letter] = world.bus.letters()
    assert letter.reason.startswith("Unreadable: ")
    missing.write_text(SESSION)

    assert the_only(recovered(world)) == "tried again"
    world.work()

    [episode] = world.episodes
    assert episode.event_id == end.id
    assert (world.bus.letters(), world.account(ENDS.group).done, world.ends) == ([], 1, 1)
    assert (world.stage(), recovered(world)) == (SessionStatus.ENDED, [])


def test_one_that_stays_lost_is_abandoned_once_with_the_reason_until_it_is_found(
    world: IdleWorld, missing: Path
) -> None:
    world.lose(missing)

    assert the_only(recovered(world)) == "abandoned"
    assert recovered(world) == []
    given_up = world.session_state().given_up
    assert given_up is not None
    assert "is gone, or on another host" in given_up.reason
    assert world.store.sessions(SessionStatus.ABANDONED) == [(Scope(), "s1")]
    assert len(world.bus.letters()) == 1

    missing.write_text(SESSION)
    assert the_only(recovered(world)) == "tried again"
    world.work()
    assert (world.stage(), world.session_state().given_up) == (SessionStatus.ENDED, None)
    assert world.store.sessions(SessionStatus.ABANDONED) == []


def test_of_a_session_that_goes_on_nothing_is_given_up(world: IdleWorld, missing: Path) -> None:
    world.lose(missing)
    world.now += 1
    world.touch(path=missing)
    world.work()

    assert (recovered(world), world.stage()) == ([], SessionStatus.OPEN)


def test_what_has_just_died_is_left_alone(world: IdleWorld, missing: Path) -> None:
    world.now = time.time()  # servers give letters their own time
    world.lose(missing)

    assert list(world.finisher().recover()) == []
    assert the_only(recovered(world)) == "abandoned"


def test_one_that_cannot_be_looked_at_does_not_stop_the_others(world: IdleWorld, missing: Path, tmp_path: Path) -> None:
    world.lose(missing)
    world.lose(tmp_path / "s2.txt", "s2")

    class Stubborn:
        def session_state(self, scope: Scope, session_id: str) -> SessionState | None:
            if session_id == "s1":
                raise ValueError("a test")
            return world.store.session_state(scope, session_id)

        sessions = world.store.sessions

    world.use_courses(Stubborn())

    assert [deed.session_id for deed in world.recover()] == ["s2"]


def test_a_session_that_keeps_failing_is_named_in_the_log_once(world: IdleWorld) -> None:
    world.touch()
    world.work()
    world.now += IDLE + 1
    finisher = world.finisher()

    class Broken:
        def session_state(self, scope: Scope, session_id: str) -> SessionState | None:
            raise ValueError(f"{scope} {session_id}")

        sessions = world.store.sessions

    world.use_courses(Broken())
    finisher.context = world.context
    with capture_logs() as said:
        assert [*finisher.close(), *finisher.close()] == []

    assert [(line["event"], line["of"]) for line in said] == [("session.recovery_failed", f"{Scope()}/s1")]


def half_closed(world: IdleWorld, missing: Path) -> SessionState:
    """A session that was closed, and whose end is nowhere."""
    world.touch(path=missing)
    world.work()
    session_state = world.session_state()
    world.store.apply(
        [
            SaveSessionState(
                session_state=closed(session_state, ended_by_idleness(session_state)), replaces=session_state
            )
        ]
    )
    return world.session_state()


def test_an_end_that_was_lost_sight_of_is_said_again(world: IdleWorld, missing: Path) -> None:
    missing.write_text(SESSION)
    assert half_closed(world, missing).status is SessionStatus.CLOSING

    assert the_only(recovered(world)) == "ended again"
    assert recovered(world) == []
    world.work()

    assert (world.stage(), len(world.episodes), world.ends) == (SessionStatus.ENDED, 1, 1)


def test_an_end_that_two_look_for_at_once_is_told_by_one(world: IdleWorld, missing: Path) -> None:
    missing.write_text(SESSION)
    half_closed(world, missing)
    others: list[RecoveryAction] = []
    world.now += IDLE + 1

    own = list(world.finisher(meddled(world.bus, lambda _: others.extend(world.recover()))).recover())

    assert [the_only([deed.what]) for deed in (*own, *others)] == ["ended again"]
    assert world.ends == 1
