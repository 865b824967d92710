"""Ends that could not be dealt with are found and finished once they can be; hopeless ones are marked, and say why."""

import time
from pathlib import Path

import pytest
from builders.answers import SESSION
from builders.idle import ENDS, IDLE, IdleWorld
from builders.meddled import meddled
from structlog.testing import capture_logs

from nous.domain.effects import SaveSessionState
from nous.domain.scope import Scope
from nous.domain.session_state import SessionState, SessionStatus, closed
from nous.services.session_lifecycle import RecoveryAction, ended_by_idleness


@pytest.fixture
def world() -> IdleWorld:
    return IdleWorld()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s1.txt"


def the_only(deeds: list[str]) -> str:
    [deed] = deeds
    return deed.partition(":")[0]


def recovered(world: IdleWorld) -> list[str]:
    return [deed.what for deed in world.recover()]


def test_a_session_whose_transcript_is_there_again_is_finished_under_the_same_identity(
    world: IdleWorld, path: Path
) -> None:
    end = world.lose(path)
    [letter] = world.bus.letters()
    assert letter.reason.startswith("Unreadable: ")
    path.write_text(SESSION)

    assert the_only(recovered(world)) == "tried again"
    world.work()

    [episode] = world.episodes
    assert episode.event_id == end.id
    assert (world.bus.letters(), world.account(ENDS.group).done, world.ends) == ([], 1, 1)
    assert (world.stage(), recovered(world)) == (SessionStatus.ENDED, [])


def test_one_that_stays_lost_is_abandoned_once_with_the_reason_until_it_is_found(world: IdleWorld, path: Path) -> None:
    world.lose(path)

    assert the_only(recovered(world)) == "abandoned"
    assert recovered(world) == []
    given_up = world.session_state().given_up
    assert given_up is not None
    assert "is gone, or on another host" in given_up.reason
    assert world.store.sessions(SessionStatus.ABANDONED) == [(Scope(), "s1")]
    assert len(world.bus.letters()) == 1

    path.write_text(SESSION)
    assert the_only(recovered(world)) == "tried again"
    world.work()
    assert (world.stage(), world.session_state().given_up) == (SessionStatus.ENDED, None)
    assert world.store.sessions(SessionStatus.ABANDONED) == []


def test_of_a_session_that_goes_on_nothing_is_given_up(world: IdleWorld, path: Path) -> None:
    world.lose(path)
    world.now += 1
    world.touch(path=path)
    world.work()

    assert (recovered(world), world.stage()) == ([], SessionStatus.OPEN)


def test_what_has_just_died_is_left_alone(world: IdleWorld, path: Path) -> None:
    world.now = time.time()  # servers give letters their own time
    world.lose(path)

    assert list(world.finisher().recover()) == []
    assert the_only(recovered(world)) == "abandoned"


def test_one_that_cannot_be_looked_at_does_not_stop_the_others(world: IdleWorld, path: Path, tmp_path: Path) -> None:
    world.lose(path)
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


def half_closed(world: IdleWorld, path: Path) -> SessionState:
    """A session that was closed, and whose end is nowhere."""
    world.touch(path=path)
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


def test_an_end_that_was_lost_sight_of_is_said_again(world: IdleWorld, path: Path) -> None:
    path.write_text(SESSION)
    assert half_closed(world, path).status is SessionStatus.CLOSING

    assert the_only(recovered(world)) == "ended again"
    assert recovered(world) == []
    world.work()

    assert (world.stage(), len(world.episodes), world.ends) == (SessionStatus.ENDED, 1, 1)


def test_an_end_that_two_look_for_at_once_is_told_by_one(world: IdleWorld, path: Path) -> None:
    path.write_text(SESSION)
    half_closed(world, path)
    others: list[RecoveryAction] = []
    world.now += IDLE + 1

    own = list(world.finisher(meddled(world.bus, lambda _: others.extend(world.recover()))).recover())

    assert [the_only([deed.what]) for deed in (*own, *others)] == ["ended again"]
    assert world.ends == 1
