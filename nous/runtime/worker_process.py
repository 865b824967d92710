"""Run loops on threads; queue stream entries as jobs; resubmit or dead-letter overdue ones.

For each worker there is a dispatch loop and a pool, each on its own thread. The dispatch loop queues new entries,
sweeps, and starts the quarantine process. Nothing but the sweeper resubmits.
"""

import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Protocol

import structlog

from nous.backoff import RetryBackoff
from nous.bus.base import Bus, Delivery, DeliveryRef, Priority, Subscription
from nous.bus.delivery_state import AttemptFailure, AttemptOutcome, DeliveryState, DeliveryStatus, RetryPolicy
from nous.domain.errors import Misconfigured, Unavailable
from nous.jobs.base import Jobs, JobSpec, QueueKind

_AT_ONCE = 200
_NO_ROOM = 1.0  # seconds until a delivery that found no room in its queue is handled again

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Dispatcher:
    """Moves entries from the stream to one worker's job queues, new ones and overdue ones.

    The backlog stays in the stream: at most *ahead* jobs wait in a queue, refilled in batches. If this process dies
    after claiming an entry, its lease expires, and a sweep queues it.

    Any number may sweep concurrently, in any number of processes. Each step is a compare-and-set on the delivery's
    state, so one of them succeeds, and there is no lock that a dead process could keep.

    Everything that was ever deferred may become due at once. So a delivery stays where it is while its queue holds more
    than twice *ahead* jobs. New events stop at *ahead*, so a backlog of new events cannot use up the second half.
    """

    subscription: Subscription
    _: KW_ONLY
    bus: Bus
    jobs: Jobs
    retry_policy: RetryPolicy
    ahead: int
    _room: dict[QueueKind, int] = field(init=False, default_factory=dict[QueueKind, int])

    def dispatch(self) -> int | None:
        """Queue new entries, live ones first; return how many, or None where a queue has no room."""
        queued = [self._dispatch(priority) for priority in Priority]
        return None if None in queued else sum(filter(None, queued))

    def wait(self, seconds: float) -> None:
        """Block until there may be entries to dispatch, or for *seconds*."""
        self.bus.wait(self.subscription, priorities=tuple(Priority), seconds=seconds)

    def _dispatch(self, priority: Priority) -> int | None:
        line = QueueKind.of(priority)
        room = self.ahead - self.jobs.backlog(self.subscription.group, line)
        if room < max(self.ahead // 4, 1):
            return None
        deliveries = self.bus.receive(self.subscription, priority=priority, limit=room, lease=self.retry_policy.lease)
        self.jobs.submit(*(JobSpec.of(each, attempt=each.state.attempt, line=line) for each in deliveries))
        return len(deliveries)

    def sweep(self) -> int:
        """Handle every delivery whose lease has expired; return how many were resubmitted."""
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
        is_suspect = progress.crashes >= self.retry_policy.crashes_before_quarantine
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


_POLL_INTERVAL = 0.1
"""Seconds between two polls of the loops and of a stop request; `stop` has the reason against an event."""
_LISTEN = 1.0
_FULL = 0.02  # seconds to wait for new entries, and for room in a queue


class Loop(Protocol):
    def run(self) -> None: ...

    def stop(self) -> None: ...


class WorkerProcess:
    """Runs *loops* on threads; a stop drains them: work in flight ends, then *finish* is called."""

    def __init__(self, loops: Sequence[Loop], *, finish: Callable[[], object] = lambda: None) -> None:
        self._loops = loops
        self._finish = finish
        # Daemons, so the process ends if one of them cannot be started.
        self._threads = [
            threading.Thread(target=_run, args=(loop,), name=type(loop).__name__, daemon=True) for loop in loops
        ]
        self._was_asked = False

    def start(self) -> None:
        """Start every loop; RuntimeError if the system cannot start another thread."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ask every loop to stop. Safe in a signal handler, and idempotent."""
        # No `threading.Event`: a signal that interrupts its `wait` while that holds the event's lock would deadlock.
        self._was_asked = True

    def wait(self) -> bool:
        """Block until a stop is requested or a loop ends, then drain; false: restart the process."""
        while not self._was_asked and all(thread.is_alive() for thread in self._threads):
            time.sleep(_POLL_INTERVAL)
        was_asked = self._was_asked
        if not was_asked:
            log.error("worker_process.loop_ended", loops=[t.name for t in self._threads if not t.is_alive()])
        for loop in self._loops:
            loop.stop()
        for thread in self._threads:
            thread.join()
        self._finish()
        return was_asked


def _run(loop: Loop) -> None:
    try:
        loop.run()
    except Exception:  # the outermost call of a thread: `wait` logs that it has ended, this logs why
        log.exception("worker_process.loop_failed", loop=type(loop).__name__)


@dataclass(eq=False)
class DispatchLoop:
    """Dispatches and sweeps for one worker; any number of loops may. Times are in seconds."""

    dispatcher: Dispatcher
    _: KW_ONLY
    sweep_interval: float
    open_quarantine: Callable[[str], None]
    _stopping: threading.Event = field(init=False, default_factory=threading.Event)
    _sweep_at: float = field(init=False, default=0.0)
    _sweeping: RetryBackoff = field(init=False, default_factory=lambda: RetryBackoff("sweep"))
    _dispatching: RetryBackoff = field(init=False, default_factory=lambda: RetryBackoff("dispatch"))

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        """Dispatch and sweep until `stop`; a failure of one does not hold up the other."""
        with structlog.contextvars.bound_contextvars(worker=self.dispatcher.subscription.group):
            while not self._stopping.is_set():
                if time.monotonic() >= self._sweep_at:
                    with self._sweeping.guard():
                        self._sweep()
                    self._stopping.wait(self._sweeping.wait)
                with self._dispatching.guard():
                    self._dispatch()
                self._stopping.wait(self._dispatching.wait)

    def _dispatch(self) -> None:
        queued = self.dispatcher.dispatch()
        if queued is None:
            self._stopping.wait(_FULL)
        elif queued == 0:
            self.dispatcher.wait(min(_LISTEN, self.sweep_interval))

    def _sweep(self) -> None:
        self._sweep_at = time.monotonic() + self.sweep_interval
        self.dispatcher.sweep()
        worker = self.dispatcher.subscription.group
        if self.dispatcher.jobs.backlog(worker, QueueKind.QUARANTINE):
            self.open_quarantine(worker)


class QuarantineStarter:
    """Starts at most one quarantine process per worker: *command* with the worker's name."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def open(self, worker: str) -> None:
        running = self._processes.get(worker)
        if running is None or running.poll() is not None:
            hint = "events that may have crashed their process wait in quarantine"
            log.warning("quarantine.process_started", worker=worker, hint=hint)
            self._processes[worker] = subprocess.Popen([*self._command, worker], stdin=subprocess.DEVNULL)

    def ask_to_end(self) -> None:
        """Ask the processes to end after their current job, or at its deadline."""
        for process in self._processes.values():
            process.terminate()

    def stop(self) -> None:
        self.ask_to_end()
        for process in self._processes.values():
            process.wait()
