"""Letting go of events that came to rest long ago."""

from collections.abc import Iterator
from typing import Protocol

from nous.bus.base import Lane
from nous.events import Event


class Trimming(Protocol):
    """Bounds what the streams hold. Any number may trim at once, and beside everything else that a bus does.

    Every method raises `Unavailable` when the server does not answer.
    """

    def trim(self, kind: type[Event], *, lane: Lane, keep: float) -> Iterator[int]:
        """Remove what a stream took more than *keep* seconds ago; yields how many for each page, oldest first.

        An event stays that a group has not read, or has pending, or that a letter is about: redriving needs it. So
        does the last one that a group has read. It may be left between two pages; whoever comes next goes on.
        """
        ...
