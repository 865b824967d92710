"""From the stream to the queue: every entry that a group was offered becomes a job."""

from nous.bus.base import Bus, Lane, Subscription
from nous.jobs.base import Jobs, Line, Order


class Dispatcher:
    """Offers events to one worker's queues, and keeps the backlog in the stream.

    At most *ahead* jobs wait in a queue; it is filled up when a quarter of it is free, since many at once cost less. If
    this process dies between taking an entry and queueing its job, the entry's lease ends and the sweeper queues it.
    *lease* is in seconds.
    """

    def __init__(self, subscription: Subscription, *, bus: Bus, jobs: Jobs, ahead: int, lease: float) -> None:
        self._subscription = subscription
        self._bus = bus
        self._jobs = jobs
        self._ahead = ahead
        self._lease = lease

    def dispatch(self) -> int | None:
        """Queue what there is room for, live events first; returns how many jobs were queued, None without room."""
        queued = [self._dispatch(lane) for lane in Lane]
        return None if None in queued else sum(filter(None, queued))

    def wait(self, seconds: float) -> None:
        """Return when there may be something to dispatch, or after *seconds*."""
        self._bus.wait(self._subscription, lanes=tuple(Lane), seconds=seconds)

    def _dispatch(self, lane: Lane) -> int | None:
        room = self._ahead - self._jobs.backlog(self._subscription.group, Line.of(lane))
        if room < max(self._ahead // 4, 1):
            return None
        deliveries = self._bus.receive(self._subscription, lane=lane, limit=room, lease=self._lease)
        self._jobs.submit(
            *(
                Order(
                    ticket=delivery.ticket,
                    event_id=delivery.event.id,
                    session_id=delivery.event.session_id,
                    attempt=delivery.progress.attempt,
                    line=Line.of(lane),
                )
                for delivery in deliveries
            )
        )
        return len(deliveries)
