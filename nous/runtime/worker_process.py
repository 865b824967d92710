"""Everything that runs in a worker process: for each worker a clerk and a pool, each on a thread."""

import threading
import time
from collections.abc import Sequence
from typing import Protocol

import structlog

log = structlog.get_logger(__name__)

_GLANCE = 0.1
"""Seconds between two looks whether all posts run, and nobody has asked them to stop."""


class Post(Protocol):
    """Something that runs until it is stopped."""

    def run(self) -> None: ...

    def stop(self) -> None: ...


class Fleet:
    """Starts posts together and stops them together.

    Stopping drains: clerks and pools take nothing new, and what is in flight comes to its end. The last to stop is
    *last*, which the others need while they drain.
    """

    def __init__(self, posts: Sequence[Post], *, last: Sequence["Stoppable"] = ()) -> None:
        self._posts = posts
        self._last = last
        self._threads = [threading.Thread(target=_run, args=(post,), name=type(post).__name__) for post in posts]
        self._was_asked = False

    def start(self) -> None:
        """Raises `RuntimeError` where the system has no thread left; half a fleet does not stay."""
        try:
            for thread in self._threads:
                thread.start()
        except RuntimeError:
            for post in self._posts:
                post.stop()
            raise

    def stop(self) -> None:
        """Ask every post to stop. Safe in a signal handler, and when done twice."""
        # No event: the signal may interrupt its `wait` where that has the event's lock, and would wait for it for ever.
        self._was_asked = True

    def is_well(self) -> bool:
        """Whether every post still runs."""
        return all(thread.is_alive() for thread in self._threads)

    def wait(self) -> bool:
        """Return when the fleet was asked to stop, or a post has ended by itself, and everything has come to rest.

        Whether it was asked: if not, something is wrong, and whoever supervises the process should start it again.
        """
        while not self._was_asked and self.is_well():
            time.sleep(_GLANCE)
        was_asked = self._was_asked
        if not was_asked:
            log.error("stopping: a part has ended by itself", parts=[t.name for t in self._threads if not t.is_alive()])
        for post in self._posts:
            post.stop()
        for thread in self._threads:
            thread.join()
        for each in self._last:
            each.stop()
        return was_asked


def _run(post: Post) -> None:
    try:
        post.run()
    except Exception:  # the outermost call of a thread: `wait` says that it has ended, this says why
        log.exception("a part has failed", part=type(post).__name__)


class Stoppable(Protocol):
    """Something that has to be stopped after the posts."""

    def stop(self) -> None: ...
