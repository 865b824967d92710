"""What goes wrong again and again: how long to wait until the next try, and what of it is worth a line in the log."""

import random

_FIRST = 1.0
_LONGEST = 8.0
"""Seconds between two tries at most, and so the longest time until a server that is well again is noticed."""
_DOUBLINGS = 10
"""More than the limit allows; without one the number of seconds becomes too large to be reckoned with."""


class Setbacks:
    """The failures of one duty since it last went well. Not to be shared by threads."""

    def __init__(self) -> None:
        self._count = 0
        self._last = ""
        self._repeated = 0

    def met(self, error: Exception) -> bool:
        """Note one more. Whether it is worth telling: one of a kind is the first, second, fourth, eighth ... time.

        Those are of a kind whose texts begin alike, up to the colon: what follows there differs with the command.
        """
        told = f"{type(error).__name__}: {str(error).partition(':')[0]}"
        self._repeated = self._repeated + 1 if told == self._last else 1
        self._last = told
        self._count += 1
        return self._repeated.bit_count() == 1

    @property
    def wait(self) -> float:
        """Seconds until the next try: twice as long after each failure, up to a limit, and never quite the same."""
        longest = min(_LONGEST, _FIRST * 2 ** min(max(self._count - 1, 0), _DOUBLINGS))
        return longest / 2 * (1 + random.random())  # noqa: S311 (spreading load is no secret)

    def over(self) -> int:
        """Note that it went well, and return how often it had failed."""
        count, self._count, self._repeated, self._last = self._count, 0, 0, ""
        return count
