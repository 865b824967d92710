"""Sweeping folders for sessions that are over, whatever goes wrong with a file."""

import json
from pathlib import Path

import pytest
from builders.sweeps import DAY, HOUR, NOW, READER, TEXT, Scene, counts
from structlog.testing import capture_logs

from nous.bus.base import Priority
from nous.domain.errors import Misconfigured, NotFound, Unavailable
from nous.domain.scope import Scope
from nous.services.folder_watch import FileOutcome, SweepReport, decide
from nous.services.session_intake import SessionMetadata
from nous.store.redis.transcripts import FileRecord, WatchedFolder


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


def test_what_the_server_loses_before_it_is_remembered_is_handed_over_again(scene: Scene) -> None:
    path = scene.write("s.txt")
    scene.watched.first = scene.lose_events

    lost = scene.sweep()

    assert counts(lost) == {FileOutcome.PUT_OFF: 1}
    assert "no longer knows the events" in lost.put_off[path]
    assert lost.handed_over == []
    scene.watched.first = lambda: None
    assert counts(scene.sweep()) == {FileOutcome.HANDED_OVER: 1}
    assert scene.received() == ["s"]


def test_what_the_server_loses_of_a_file_that_is_then_refused_is_handed_over_again(scene: Scene) -> None:
    lines = [{"id": name, "messages": [{"role": "user", "content": f"hello, I am {name}"}]} for name in ("a", "b")]
    lines += [{"nothing": []}]
    scene.write("runs.jsonl", text="".join(json.dumps(each) + "\n" for each in lines))
    scene.watched.first = scene.lose_events

    assert counts(scene.sweep()) == {FileOutcome.PUT_OFF: 1}
    scene.watched.first = lambda: None
    assert counts(scene.sweep()) == {FileOutcome.REFUSED: 1}
    found = scene.bus.receive(READER, priority=Priority.LIVE, limit=10, lease=60)
    assert [each.event.session_id for each in found] == ["a", "b"]
    assert counts(scene.sweep()) == {FileOutcome.REFUSED_BEFORE: 1}


def test_a_refused_file_is_told_once_and_again_when_it_has_changed(scene: Scene) -> None:
    path = scene.write("bad.jsonl", text='{"secret": 1\n')
    scene.write("good.txt")

    first, second = scene.sweep(), scene.sweep()

    assert counts(first) == {FileOutcome.REFUSED: 1, FileOutcome.HANDED_OVER: 1}
    assert "no transcript that nous can read" in first.refused[path]
    assert counts(second) == {FileOutcome.REFUSED_BEFORE: 1, FileOutcome.KNOWN: 1}
    assert "secret" not in repr(scene.watched.recall(WatchedFolder(Scope(), "here", scene.folder)))
    scene.write("bad.jsonl", text=TEXT)
    assert counts(scene.sweep()) == {FileOutcome.HANDED_OVER: 1, FileOutcome.KNOWN: 1}


@pytest.mark.parametrize("error", [NotFound("it is gone"), Unavailable("the disk fails"), MemoryError("for now")])
def test_what_goes_wrong_with_one_file_stops_no_other(scene: Scene, error: Exception) -> None:
    bad = scene.write("bad.txt", age=HOUR)
    scene.write("good.txt")

    def fail(path: Path) -> None:
        if path == bad:
            raise error

    scene.instead = fail

    assert counts(scene.sweep()) == {FileOutcome.PUT_OFF: 1, FileOutcome.HANDED_OVER: 1}
    scene.instead = lambda _: None
    assert counts(scene.sweep()) == {FileOutcome.KNOWN: 1, FileOutcome.HANDED_OVER: 1}


def test_a_file_over_which_nous_stumbles_is_refused_and_logged_once(scene: Scene) -> None:
    path = scene.write("s.txt")

    def stumble(_: Path) -> None:
        raise KeyError(f"{path}: 'what the user said in this session of hers is nobody else's'")

    scene.instead = stumble
    with capture_logs() as logs:
        first, second = scene.sweep(), scene.sweep()

    assert (counts(first), counts(second)) == ({FileOutcome.REFUSED: 1}, {FileOutcome.REFUSED_BEFORE: 1})
    assert first.refused[path].startswith("a defect in nous: KeyError: ")
    assert [(each["event"], each["path"]) for each in logs] == [("folder_watch.file_failed", str(path))]
    assert "in stumble" in logs[0]["traceback"]
    assert "what the user said" not in repr(logs)


def test_a_server_that_takes_nothing_ends_the_sweep_and_nothing_is_taken_for_known(scene: Scene) -> None:
    scene.write("s.txt")

    def fail(_: Path) -> None:
        raise Misconfigured("refused")

    scene.instead = fail
    with pytest.raises(Misconfigured):
        scene.sweep()

    scene.instead = lambda _: None
    assert counts(scene.sweep()) == {FileOutcome.HANDED_OVER: 1}


@pytest.mark.parametrize(
    ("age", "verdict"),
    [
        (0, FileOutcome.GOING),
        (HOUR - 1, FileOutcome.GOING),
        (HOUR, None),
        (30 * DAY, None),
        (30 * DAY + 1, FileOutcome.PAST),
        (-HOUR, FileOutcome.GOING),
        (-2 * DAY, None),
    ],
    ids=["just now", "a moment too early", "idle", "the oldest", "past", "of a clock ahead", "of a clock gone wrong"],
)
def test_a_file_is_judged_by_how_long_nobody_wrote_to_it(age: float, verdict: FileOutcome | None) -> None:
    assert decide(FileRecord(100, round((NOW - age) * 1e9)), None, age, idle=HOUR, since=30 * DAY) is verdict
