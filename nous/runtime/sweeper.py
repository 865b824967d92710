"""Resubmit or dead-letter deliveries whose lease has expired; nothing else resubmits."""

from dataclasses import KW_ONLY, dataclass, field

import structlog

from nous.bus.base import Bus, Delivery, DeliveryRef, Subscription
from nous.bus.delivery_state import AttemptFailure, AttemptOutcome, DeliveryState, DeliveryStatus, RetryPolicy
from nous.domain.errors import Misconfigured, Unavailable
from nous.jobs.base import Jobs, JobSpec, QueueKind

_AT_ONCE = 200
_NO_ROOM = 1.0  # seconds until a delivery that found no room in its queue is handled again

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Sweeper:
    """Handles the overdue deliveries of one consumer group: those whose lease has expired.

    Any number may sweep concurrently, in any number of processes. Each step is a compare-and-set on the delivery's
    state, so one of them succeeds, and there is no lock that a dead process could keep.

    Everything that was ever deferred may become due at once. So a delivery stays where it is while its queue holds more
    than twice *ahead* jobs. Dispatchers stop at *ahead*, so a backlog of new events cannot use up the second half.
    """

    subscription: Subscription
    _: KW_ONLY
    bus: Bus
    jobs: Jobs
    retry_policy: RetryPolicy
    ahead: int
    _room: dict[QueueKind, int] = field(init=False, default_factory=dict[QueueKind, int])

    def sweep(self) -> int:
        """Handle every overdue delivery; return how many were resubmitted."""
        if clamped := self.bus.clamp_leases(self.subscription, lease=self.retry_policy.lease):
            log.warning("leases.clamped", leases=clamped, hint="their ends were too far ahead: the clock was set back")
        self._room = {}
        overdue = self.bus.overdue(self.subscription, limit=_AT_ONCE)
        return sum(self._revive_safely(ref, progress) for ref, progress in overdue)

    def _revive_safely(self, ref: DeliveryRef, progress: DeliveryState) -> bool:
        try:
            return self._revive(ref, progress)
        except (Unavailable, Misconfigured):  # the others would fail in the same way
            raise
        except Exception:  # the outermost call for one delivery: the others are handled all the same
            log.exception("delivery.reclaim_failed", entry=ref.entry)
            return False

    def _revive(self, ref: DeliveryRef, progress: DeliveryState) -> bool:
        if self.retry_policy.is_exhausted(progress):
            if self.bus.dead_letter(ref, progress=progress, reason=progress.reason):
                log.error("delivery.dead_lettered", entry=ref.entry, reason=progress.reason)
            return False
        delivery = self.bus.open(ref)
        if delivery is None:  # it ended since it was listed
            return False
        if progress.state is DeliveryStatus.QUEUED and self.jobs.is_waiting(self._order(delivery, progress)):
            self.bus.compare_and_set_state(ref, before=progress, after=progress, lease=self.retry_policy.lease)
            return False
        return self._resubmit(delivery, progress)

    def _has_room(self, line: QueueKind) -> bool:
        # The backlog is read once in each sweep.
        if line not in self._room:
            self._room[line] = 2 * self.ahead - self.jobs.backlog(self.subscription.group, line)
        self._room[line] -= 1
        return self._room[line] >= 0

    def _resubmit(self, delivery: Delivery, progress: DeliveryState) -> bool:
        after = progress.resubmitted()
        order = self._order(delivery, after)
        if not self._has_room(order.line):
            # Wait again, behind the deliveries for another queue, which may have room.
            self.bus.compare_and_set_state(delivery.ref, before=progress, after=progress, lease=_NO_ROOM)
            return False
        lease, attempt_failure = self.retry_policy.lease, _failure_of(progress, after)
        if not self.bus.compare_and_set_state(
            delivery.ref, before=progress, after=after, lease=lease, attempt_failure=attempt_failure
        ):
            # Another sweeper was first, or our reply was lost. Queueing the same attempt again is idempotent.
            found = self.bus.open(delivery.ref)
            return bool(found) and found.state == after and self.jobs.submit(order) > 0
        # A deferred delivery was logged when it was deferred.
        write = log.debug if progress.state is DeliveryStatus.WAITING else log.info
        write(
            "delivery.resubmitted",
            event_id=str(delivery.event.id),
            session_id=delivery.event.session_id,
            attempt=after.attempt,
            reason=after.reason or "its job was lost",
        )
        return self.jobs.submit(order) > 0

    def _order(self, delivery: Delivery, progress: DeliveryState) -> JobSpec:
        is_suspect = self.retry_policy.wants_quarantine(progress)
        line = QueueKind.QUARANTINE if is_suspect else QueueKind.of(delivery.ref.priority)
        return JobSpec.of(delivery, attempt=progress.attempt, line=line)


def _failure_of(before: DeliveryState, after: DeliveryState) -> AttemptFailure | None:
    match before.state:
        case DeliveryStatus.WAITING:
            return None
        case DeliveryStatus.RUNNING:
            return AttemptFailure(fate=AttemptOutcome.CRASHED, attempt=before.attempt, text=after.reason)
        case DeliveryStatus.QUEUED:
            return AttemptFailure(
                fate=AttemptOutcome.LOST, attempt=before.attempt, text="its job was gone from the queue"
            )
