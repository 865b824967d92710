"""Sweeping folders where a file is refused, nous stumbles over one, or the server loses what it was told."""

import json
from pathlib import Path

import pytest
from builders.sweeps import HOUR, READER, TEXT, Scene, counts
from structlog.testing import capture_logs

from nous.bus.base import Priority
from nous.domain.errors import Misconfigured, NotFound, Unavailable
from nous.domain.scope import Scope
from nous.services.folder_watch import FileOutcome
from nous.store.folder_state import WatchedFolder


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


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


@pytest.mark.parametrize(
    "error",
    [
        NotFound("it is gone"),
        Unavailable("the disk fails"),
        MemoryError("for now"),
    ],
)
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


def test_a_file_over_which_nous_stumbles_is_refused_and_logged_once_and_tried_by_another_release(scene: Scene) -> None:
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
    scene.instead = lambda _: None
    scene.release = "1.1"
    assert counts(scene.sweep()) == {FileOutcome.HANDED_OVER: 1}


def test_what_another_release_refused_is_looked_at_again_by_this_one(scene: Scene) -> None:
    scene.write("s.jsonl", text="{}\n")
    assert counts(scene.sweep()) == {FileOutcome.REFUSED: 1}
    assert counts(scene.sweep()) == {FileOutcome.REFUSED_BEFORE: 1}

    scene.release = "1.1"

    assert counts(scene.sweep()) == {FileOutcome.REFUSED: 1}
    assert counts(scene.sweep()) == {FileOutcome.REFUSED_BEFORE: 1}


def test_a_server_that_takes_nothing_ends_the_sweep_and_nothing_is_taken_for_known(scene: Scene) -> None:
    scene.write("s.txt")

    def fail(_: Path) -> None:
        raise Misconfigured("refused")

    scene.instead = fail
    with pytest.raises(Misconfigured):
        scene.sweep()

    scene.instead = lambda _: None
    assert counts(scene.sweep()) == {FileOutcome.HANDED_OVER: 1}
