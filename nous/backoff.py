"""Exponential backoff and log sampling for one repeatedly failing background task."""

import random

_FIRST = 1.0
_LONGEST = 8.0
"""Seconds between two tries at most. Also the longest time until a recovered server is noticed."""
_DOUBLINGS = 10
"""More than the limit allows. Without this cap the power would overflow a float."""


class RetryBackoff:
    """Consecutive failures of one task. Not thread-safe."""

    def __init__(self) -> None:
        self._count = 0
        self._last = ""
        self._repeated = 0

    def record_failure(self, error: Exception) -> bool:
        """Count a failure; return whether it should be logged.

        Of failures of one kind in a row, the first, second, fourth, eighth ... are logged. Errors are of one kind if
        they have the same type and the same text up to the colon: the text behind it differs with the command.
        """
        kind = f"{type(error).__name__}: {str(error).partition(':')[0]}"
        self._repeated = self._repeated + 1 if kind == self._last else 1
        self._last = kind
        self._count += 1
        return self._repeated.bit_count() == 1

    @property
    def wait(self) -> float:
        """Seconds until the next try, with jitter; doubles with each failure, up to a limit."""
        longest = min(_LONGEST, _FIRST * 2 ** min(max(self._count - 1, 0), _DOUBLINGS))
        return longest / 2 * (1 + random.random())  # noqa: S311 (spreading load is no secret)

    def reset(self) -> int:
        """Record a success; return the number of failures before it."""
        count, self._count, self._repeated, self._last = self._count, 0, 0, ""
        return count
