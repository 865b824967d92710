"""Everything in a process, started and stopped together."""

import threading
from typing import Any

import pytest

from nous.runtime.worker_process import WorkerProcess


class Post:
    """Runs until it is stopped, or told to end."""

    def __init__(self) -> None:
        self.end = threading.Event()
        self.ended = False

    def run(self) -> None:
        self.end.wait()
        self.ended = True

    def stop(self) -> None:
        self.end.set()


class Last:
    """Notes whether the posts had ended when it was stopped."""

    def __init__(self, *posts: Post) -> None:
        self.posts = posts
        self.came_last = False

    def stop(self) -> None:
        self.came_last = all(post.ended for post in self.posts)


def test_a_fleet_that_is_asked_to_stop_lets_every_post_end_and_the_last_one_after_them() -> None:
    posts = [Post(), Post()]
    last = Last(*posts)
    fleet = WorkerProcess(posts, last=[last])

    fleet.start()
    fleet.stop()

    assert fleet.wait()
    assert last.came_last


def test_a_post_that_ends_by_itself_ends_the_fleet() -> None:
    posts = [Post(), Post()]
    fleet = WorkerProcess(posts)
    end = threading.Timer(20, fleet.stop)  # where it would go on for ever
    end.start()

    fleet.start()
    posts[0].end.set()
    was_asked = fleet.wait()
    end.cancel()

    assert not was_asked
    assert all(post.ended for post in posts)


def test_of_a_fleet_that_gets_too_few_threads_none_stays(monkeypatch: pytest.MonkeyPatch, wait_until: Any) -> None:
    posts = [Post(), Post()]
    start, left = threading.Thread.start, iter([True])

    def start_one(thread: threading.Thread) -> None:
        if not next(left, False):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_one)

    with pytest.raises(RuntimeError, match="new thread"):
        WorkerProcess(posts).start()

    wait_until(lambda: posts[0].ended, "the one that was started to end")
