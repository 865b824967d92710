"""The only one that submits again: after a crash, after an error that may pass, after a lease ran out."""

import time
from collections.abc import Callable, Sequence
from math import inf

import structlog

from nous.bus.base import Bus, Delivery, Lane, Subscription, Ticket
from nous.bus.delivery_state import Fate, Mishap, Patience, Progress, State
from nous.domain.errors import Misconfigured, Unavailable
from nous.jobs.base import Jobs, Line, Order

_AT_ONCE = 200
_NO_ROOM = 1.0
"""Seconds until what found no room in its queue is looked at again."""

log = structlog.get_logger(__name__)


class Sweeper:
    """Looks after the deliveries of one group whose lease has ended.

    Any number may sweep at once, in any number of processes: each step is a compare-and-set on the delivery's progress,
    so one of them succeeds and there is no lock that a dead one could keep.

    What has to be tried again may be as much as was ever put off, so it stays where it is while *ahead* jobs more than
    dispatchers leave in a queue wait there: as many again, which no backlog of new events can take up.

    After a while in which it reached no server it waits for half a lease: nobody else could renew his lease either, and
    who lives will do so by then. *clock* is monotonic, in seconds.
    """

    def __init__(
        self,
        subscription: Subscription,
        *,
        bus: Bus,
        jobs: Jobs,
        patience: Patience,
        ahead: int,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._subscription = subscription
        self._bus = bus
        self._jobs = jobs
        self._patience = patience
        self._ahead = ahead
        self._room: dict[Line, int] = {}
        self._clock = clock
        self._wall = wall
        self._ahead_of_clock = inf
        self._failed_since = inf
        self._waits_until = 0.0

    def sweep(self) -> int:
        """Deal with every overdue delivery; returns how many were submitted again."""
        began = self._clock()
        try:
            overdue = self._look()
        except Unavailable:
            self._failed_since = min(self._failed_since, began)
            raise
        if self._was_blind(began):
            return 0
        self._room = {}
        return sum(self._revive_safely(ticket, progress) for ticket, progress in overdue)

    def _look(self) -> Sequence[tuple[Ticket, Progress]]:
        for lane in Lane:
            self._bus.adopt(self._subscription, lane=lane)
        if pulled := self._bus.pull_in(self._subscription, lease=self._patience.lease):
            log.warning("leases ended too far ahead: the clock was set back", leases=pulled)
        return self._bus.overdue(self._subscription, limit=_AT_ONCE)

    def _was_blind(self, began: float) -> bool:
        """Whether the server was out for so long, this look that *began* then included, that leases may have ended."""
        now, grace = self._clock(), self._patience.lease / 2
        # While the machine slept, its own clock stood still: who lives has not renewed his lease, and will do so now.
        ahead_of_clock = self._wall() - now
        has_slept = ahead_of_clock - self._ahead_of_clock > grace
        self._ahead_of_clock = ahead_of_clock
        if has_slept or now - min(began, self._failed_since) > grace:
            self._waits_until = now + grace
        self._failed_since = inf
        return now < self._waits_until

    def _revive_safely(self, ticket: Ticket, progress: Progress) -> bool:
        """Revive one; what goes wrong with it must not keep the others waiting."""
        try:
            return self._revive(ticket, progress)
        except (Unavailable, Misconfigured):  # it will be the same with the others
            raise
        except Exception:  # the outermost call for one delivery: the others are swept all the same
            log.exception("a delivery could not be revived", entry=ticket.entry)
            return False

    def _revive(self, ticket: Ticket, progress: Progress) -> bool:
        if self._patience.is_exhausted(progress):
            if self._bus.bury(ticket, progress=progress, reason=progress.reason):
                log.error("dead letter", entry=ticket.entry, reason=progress.reason)
            return False
        delivery = self._bus.open(ticket)
        if delivery is None:
            # It ended between the two looks; or somebody else has ended it, who left its lease behind.
            if self._bus.disown(ticket):
                log.error("dead letter", entry=ticket.entry, reason="it was taken from us: see `nous dead list`")
            return False
        if progress.state is State.OFFERED and self._jobs.is_waiting(self._order(delivery, progress)):
            self._bus.amend(ticket, before=progress, after=progress, lease=self._patience.lease)
            return False
        return self._resubmit(delivery, progress)

    def _has_room(self, line: Line) -> bool:
        """Whether one more job may stand in the queue, by how many did at this sweep's first look at it."""
        if line not in self._room:
            self._room[line] = 2 * self._ahead - self._jobs.backlog(self._subscription.group, line)
        self._room[line] -= 1
        return self._room[line] >= 0

    def _resubmit(self, delivery: Delivery, progress: Progress) -> bool:
        after = progress.resubmitted()
        order = self._order(delivery, after)
        if not self._has_room(order.line):
            # Behind those that wait for another queue, which may have room.
            self._bus.amend(delivery.ticket, before=progress, after=progress, lease=_NO_ROOM)
            return False
        lease, mishap = self._patience.lease, _mishap(progress, after)
        if not self._bus.amend(delivery.ticket, before=progress, after=after, lease=lease, mishap=mishap):
            # Somebody else was first; or we were, and the reply was lost. To queue the same attempt again does no harm.
            found = self._bus.open(delivery.ticket)
            return bool(found) and found.progress == after and self._jobs.submit(order) > 0
        reason = after.reason or "its job was lost"
        event = delivery.event
        tell = log.debug if progress.state is State.WAITING else log.info  # that it waits for this was said then
        tell(
            "submitted again",
            event_id=str(event.id),
            session_id=event.session_id,
            attempt=after.attempt,
            reason=reason,
        )
        return self._jobs.submit(order) > 0

    def _order(self, delivery: Delivery, progress: Progress) -> Order:
        is_suspect = self._patience.wants_quarantine(progress)
        return Order(
            ticket=delivery.ticket,
            event_id=delivery.event.id,
            session_id=delivery.event.session_id,
            attempt=progress.attempt,
            line=Line.QUARANTINE if is_suspect else Line.of(delivery.ticket.lane),
        )


def _mishap(before: Progress, after: Progress) -> Mishap | None:
    """What went wrong with the attempt that another one follows, unless it was written down when it happened."""
    match before.state:
        case State.WAITING:
            return None
        case State.RUNNING:
            return Mishap(fate=Fate.CRASHED, attempt=before.attempt, text=after.reason)
        case State.OFFERED:
            return Mishap(fate=Fate.LOST, attempt=before.attempt, text="its job was gone from the queue")
