"""Retry a server call on transient errors until a deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

from nous.domain.errors import Retryable

_Answer = TypeVar("_Answer")

_FIRST = 0.05
_LONGEST = 1.0
"""Seconds between two tries, the first and the longest. A server does not announce that it is back, so poll it."""


def retry_until_deadline(call: Callable[[], _Answer], *, seconds: float) -> _Answer:
    """Call *call*, and retry it on transient errors for *seconds*. It has to be idempotent.

    So finished work is neither repeated nor blamed because the server was down when the result was to be written. The
    wait between two tries doubles each time, up to a second.

    Raises:
        Retryable: the last failure.
    """
    until, pause = time.monotonic() + seconds, _FIRST
    while True:
        try:
            return call()
        except Retryable:
            if time.monotonic() + pause > until:
                raise
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)
