"""Waiting for what another thread or process does."""

import itertools
import time
from collections.abc import Callable

import pytest


def wait_until(condition: Callable[[], object], what: str, *, seconds: float = 30.0, pause: float = 0.05) -> None:
    """Return when *condition* holds, or fail and say *what* it waited for; *pause* is the longest between two looks."""
    deadline = time.monotonic() + seconds
    for wait in itertools.chain([0.001, 0.005, 0.02], itertools.repeat(pause)):
        if condition():
            return
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds:g} s for {what}")
        time.sleep(min(wait, pause))
