"""Sweeping folders for sessions that are over, on a bus in memory."""

from pathlib import Path

import pytest
from builders.sweeps import DAY, HOUR, TEXT, Scene, counts

from nous.bus.base import Priority
from nous.domain.errors import Unavailable
from nous.domain.scope import Scope
from nous.services.folder_watch import FileOutcome, SweepReport
from nous.services.session_intake import SessionMetadata
from nous.store.folder_state import WatchedFolder


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_what_is_over_is_handed_over_once_and_what_goes_on_or_is_past_is_left(scene: Scene) -> None:
    scene.write("over.txt")
    scene.write("deep/er.txt", age=20 * DAY)
    scene.write("going.txt", age=60)
    scene.write("past.txt", age=31 * DAY)

    first, second = scene.sweep(), scene.sweep()

    assert counts(first) == {FileOutcome.HANDED_OVER: 2, FileOutcome.GOING: 1, FileOutcome.PAST: 1}
    assert counts(second) == {FileOutcome.KNOWN: 2, FileOutcome.GOING: 1, FileOutcome.PAST: 1}
    assert (scene.received(), scene.received(Priority.BULK)) == (["over"], ["er"])


def test_a_sweep_with_nothing_new_opens_no_file(scene: Scene) -> None:
    for number in range(500):
        scene.write(f"{number}.txt", text=TEXT if number % 5 else "")
    scene.sweep()
    assert len(scene.read) == 500

    sweep = scene.sweep()

    assert scene.read == []
    assert counts(sweep) == {FileOutcome.KNOWN: 400, FileOutcome.REFUSED_BEFORE: 100}


def test_a_session_that_goes_on_is_handed_over_again_when_it_is_idle_again(scene: Scene) -> None:
    scene.write("s.txt")
    scene.sweep()
    scene.write("s.txt", text=TEXT + "\nUser: And in Paris.\n", age=0)

    assert counts(scene.sweep()) == {FileOutcome.GOING: 1}
    scene.now += HOUR
    assert counts(scene.sweep()) == {FileOutcome.HANDED_OVER: 1}
    assert scene.received() == ["s", "s"]


def test_what_a_hook_has_told_of_is_known(scene: Scene) -> None:
    path = scene.write("s.txt")
    list(scene.producer.publish(path, SessionMetadata(reason="clear")))

    assert counts(scene.sweep()) == {FileOutcome.KNOWN: 1}
    assert scene.received() == ["s"]


def test_one_that_is_killed_before_it_has_handed_over_remembers_nothing(scene: Scene) -> None:
    scene.write("s.txt")

    def die(_: Path) -> None:
        raise KeyboardInterrupt

    scene.instead = die
    with pytest.raises(KeyboardInterrupt):
        scene.sweep()

    scene.instead = lambda _: None
    assert counts(scene.sweep()) == {FileOutcome.HANDED_OVER: 1}


def test_a_file_that_two_folders_hold_is_handed_over_once(scene: Scene) -> None:
    path = scene.write("a/s.txt")
    (scene.folder / "b").mkdir()
    (scene.folder / "b" / "link.txt").symlink_to(path)

    sweep = scene.sweep(scene.folder / "b", scene.folder, path)

    assert counts(sweep) == {FileOutcome.HANDED_OVER: 1}
    assert scene.received() == ["s"]


def test_what_is_gone_is_remembered_no_longer_unless_a_folder_could_not_be_read(scene: Scene) -> None:
    place = WatchedFolder(Scope(), "here", scene.folder)
    scene.write("s.txt")
    scene.write("t.txt")
    scene.sweep()
    (scene.folder / "s.txt").unlink()

    scene.sweep()
    assert len(scene.watched.recall(place)) == 1
    for path in scene.folder.iterdir():
        path.unlink()
    scene.folder.rmdir()
    sweep = scene.sweep()

    assert list(sweep.unreadable) == [scene.folder]
    assert len(scene.watched.recall(place)) == 1


def test_it_sweeps_until_it_is_stopped_and_goes_on_when_a_sweep_fails(scene: Scene) -> None:
    told: list[SweepReport] = []
    scene.write("s.txt")
    scene.instead = lambda _: (_ for _ in ()).throw(Unavailable("not yet")) if len(told) < 2 else None
    watcher = scene.watcher()

    def take(sweep: SweepReport) -> None:
        told.append(sweep)
        if sweep.handed_over:
            watcher.stop()

    scene.told = take
    watcher = scene.watcher()
    watcher.run()

    assert [counts(each) for each in told] == [
        {FileOutcome.PUT_OFF: 1},
        {FileOutcome.PUT_OFF: 1},
        {FileOutcome.HANDED_OVER: 1},
    ]
