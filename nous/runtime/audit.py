"""Whether the accounts add up and the server is safe, looked at by every process now and then: nobody has to ask."""

import threading
from collections.abc import Callable, Sequence

import structlog

from nous.bus.base import Subscription
from nous.bus.ledger import Account, Ledger
from nous.errors import NousError
from nous.setbacks import Setbacks

log = structlog.get_logger(__name__)


class Auditor:
    """Looks at the account of each group every *interval* seconds, in one transaction each, until stopped.

    What does not add up is looked at once more after *again* seconds, since a sweep mends some of it, and then told
    once, and again when the difference is another one. *dangers* says how the server could lose what it has accepted,
    which somebody may have brought about since the process began.
    """

    def __init__(
        self,
        subscriptions: Sequence[Subscription],
        *,
        ledger: Ledger,
        interval: float,
        again: float,
        dangers: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._subscriptions = subscriptions
        self._ledger = ledger
        self._interval = interval
        self._again = again
        self._dangers = dangers
        self._known: Sequence[str] = ()
        self._suspected: dict[str, int] = {}
        self._told: dict[str, int] = {}
        self._setbacks = Setbacks()
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        while not self._stopping.wait(self._again if self._suspected != self._told else self._interval):
            try:
                self.look()
            except NousError as error:
                if self._setbacks.met(error):
                    log.warning("the accounts could not be looked at", error=str(error))
            except Exception as error:  # the outermost loop: what goes wrong here must not end the process's work
                if self._setbacks.met(error):
                    log.exception("the accounts could not be looked at")
            else:
                self._setbacks.over()

    def look(self) -> None:
        """Look at every account, and tell of those that have not added up at this look and the one before."""
        found = self._dangers()
        for danger in (each for each in found if each not in self._known):
            log.error("the server has become unsafe", reason=danger)
        self._known = found
        for each in self._subscriptions:
            self._look(each.group, self._ledger.account(each))

    def _look(self, group: str, account: Account) -> None:
        difference = account.balance
        if difference == 0:
            self._suspected.pop(group, None)
            if self._told.pop(group, None):
                log.info("the account adds up again", group=group)
        elif self._suspected.get(group) and self._told.get(group) != difference:
            self._suspected[group] = self._told[group] = difference
            log.error("the account does not add up", group=group, difference=difference, why=account.why)
        else:
            self._suspected[group] = difference
