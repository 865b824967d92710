"""Exceptions by what the caller can do: retry, wait until a time, change input or setup."""

from datetime import datetime


class NousError(Exception):
    """Base class of errors raised on purpose, whose message is written for the user."""


class Retryable(NousError):
    """A temporary condition; the same call may succeed later."""


class Unavailable(Retryable):
    """A server could not be reached, or did not answer in time."""


class Deferred(NousError):
    """Not before *until*; waiting for that uses up no attempt."""

    def __init__(self, message: str, *, until: datetime) -> None:
        super().__init__(message)
        self.until = until


class Fatal(NousError):
    """The same call fails again until the input, a setting or the server is changed."""


class BadInput(Fatal):
    """A file, a message or a value that cannot be used as it is."""


class Unreadable(BadInput):
    """A transcript that cannot be read here and now. Once it can, the same call succeeds."""


class Misconfigured(Fatal):
    """A setting, a server or an installation that the operator has to change."""


class NotAllowed(Misconfigured):
    """A server forbids this user the call; an optional call can be left out."""


class InTheWay(Fatal):
    """A key of another type, say, stands where ours has to be: of one event alone, maybe."""


class NotFound(Fatal):
    """There is nothing with the given name."""
