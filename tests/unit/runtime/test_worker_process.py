"""Everything in a process, started and stopped together."""

import threading

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


def test_a_fleet_that_is_asked_to_stop_lets_every_post_end_and_the_last_one_after_them() -> None:
    posts = [Post(), Post()]
    ended: list[bool] = []
    fleet = WorkerProcess(posts, finish=lambda: ended.extend(post.ended for post in posts))

    fleet.start()
    fleet.stop()

    assert fleet.wait()
    assert ended == [True, True]


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
