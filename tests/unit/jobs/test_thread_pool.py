"""The threads of a pool."""

import threading
from functools import partial
from typing import Any

import pytest

from nous.jobs.rq.thread_pool import DaemonThreadPool


def test_a_free_thread_is_used_again_before_another_is_made(wait_until: Any) -> None:
    hands, used = DaemonThreadPool("toy"), list[str]()

    def is_done(number: int) -> bool:
        return len(used) == number

    for number in range(1, 21):
        hands.submit(lambda: used.append(threading.current_thread().name))
        wait_until(partial(is_done, number), "the task to be done")
    hands.shutdown()

    assert len(set(used)) <= 2  # a thread may have done its task and not yet be free


def test_tasks_that_wait_run_beside_each_other() -> None:
    hands, everybody = DaemonThreadPool("toy"), threading.Barrier(51)

    for _ in range(50):
        hands.submit(partial(everybody.wait, timeout=30))

    everybody.wait(timeout=30)
    hands.shutdown()


def test_when_the_system_gives_no_more_threads_those_there_are_do_everything(
    monkeypatch: pytest.MonkeyPatch, wait_until: Any
) -> None:
    hands, go_on, done = DaemonThreadPool("toy"), threading.Event(), list[int]()

    def task(number: int) -> None:
        go_on.wait(30)
        done.append(number)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    hands.submit(partial(task, 0))
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        for number in range(1, 5):
            hands.submit(partial(task, number))
    go_on.set()
    wait_until(lambda: len(done) == 5, "all tasks to be done")
    hands.submit(partial(task, 5))
    wait_until(lambda: len(done) == 6, "the next one to be done")
    hands.shutdown()

    assert done == [0, 1, 2, 3, 4, 5]


def test_threads_that_were_refused_are_made_when_they_can_be_had(
    monkeypatch: pytest.MonkeyPatch, wait_until: Any
) -> None:
    hands, for_ever, begun = DaemonThreadPool("toy"), threading.Event(), list[int]()

    def task(number: int) -> None:
        begun.append(number)
        for_ever.wait(30)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        hands.submit(partial(task, 0))
        hands.submit(partial(task, 1))
    hands.submit(partial(task, 2))

    wait_until(lambda: sorted(begun) == [0, 1, 2], "every task to have a thread")
    for_ever.set()
    hands.shutdown()


def test_who_is_dismissed_finishes_what_was_given_and_ends(wait_until: Any) -> None:
    hands, go_on, done = DaemonThreadPool("toy"), threading.Event(), list[int]()

    def task(number: int) -> None:
        go_on.wait(30)
        done.append(number)

    for number in range(3):
        hands.submit(partial(task, number))
    hands.shutdown()
    go_on.set()

    wait_until(lambda: not [each for each in threading.enumerate() if each.name.startswith("toy-")], "threads to end")
    assert sorted(done) == [0, 1, 2]
