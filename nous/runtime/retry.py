"""Saying something to a server until it takes it."""

import time
from collections.abc import Callable
from typing import TypeVar

from nous.domain.errors import Retryable

_Answer = TypeVar("_Answer")

_FIRST = 0.05
_LONGEST = 1.0
"""Seconds between two tries, the first and the longest: a server that is out tells nobody when it is back."""


def insist(say: Callable[[], _Answer], *, seconds: float) -> _Answer:
    """Do *say*, and again while it fails in a way that may pass, for that many *seconds*; it has to be safe to repeat.

    So that work which is done is not done again, and not blamed, because the server was out when it was to be told.

    Raises:
        Retryable: the last failure.
    """
    until, pause = time.monotonic() + seconds, _FIRST
    while True:
        try:
            return say()
        except Retryable:
            if time.monotonic() + pause > until:
                raise
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)
