"""The tree of errors. Each is named after what the caller can do about it.

NousError
├── Retryable     the world was not ready: try again, with backoff
│   └── Unavailable   a server did not answer
├── Deferred      the world said when to come back: wait until then, at no cost in attempts
└── Fatal         the input is at fault: the same call will fail again
    ├── BadInput      a file, message or value that cannot be used
    │   └── Unreadable    a transcript that cannot be read here and now; once it can, the same call succeeds
    ├── Misconfigured a setting, a server or an installation that has to be changed by the operator
    │   └── NotAllowed    a server knows us, and does not let us do this
    ├── InTheWay      something else stands on the server where ours has to: somebody has to take it away
    └── NotFound      nothing goes by that name
"""

from datetime import datetime


class NousError(Exception):
    """Whatever nous raises on purpose. Its text is written for the person who reads it."""


class Retryable(NousError):
    """The world was not ready; the same call may succeed later."""


class Unavailable(Retryable):
    """A server could not be reached, or did not answer in time."""


class Deferred(NousError):
    """The world said when to come back; waiting until then costs no attempt."""

    def __init__(self, message: str, *, until: datetime) -> None:
        super().__init__(message)
        self.until = until


class Fatal(NousError):
    """The input is at fault; the same call will fail again."""


class BadInput(Fatal):
    """A file, a message or a value that cannot be used as it is."""


class Unreadable(BadInput):
    """A transcript that cannot be read here and now: it is gone, elsewhere, or damaged. Put there again, it can."""


class Misconfigured(Fatal):
    """A setting, a server or an installation that the operator has to change."""


class NotAllowed(Misconfigured):
    """What a server does not let this user do; whoever need not have done it can go on without."""


class InTheWay(Fatal):
    """Something else stands on the server where ours has to; once somebody has taken it away, the same call succeeds.

    No `Misconfigured`: it may concern one event alone, and the others go on.
    """


class NotFound(Fatal):
    """Nothing goes by the name that was given."""
