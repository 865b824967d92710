"""Run a handler on a delivered event under a lease; commit, or record retry or dead letter."""

import random
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from datetime import timedelta
from functools import partial

import structlog

from nous.backoff import RetryBackoff, retry_until_deadline
from nous.bus.base import Bus, Committed, Conflict, Delivery, DeliveryRef, Duplicate, Priority, Subscription, Verdict
from nous.bus.delivery_state import AttemptFailure, AttemptOutcome, DeliveryState, RetryPolicy
from nous.domain.effects import DegradedResult, Effects
from nous.domain.errors import Deferred, Fatal, InTheWay, Misconfigured, NotFound, NousError, Retryable
from nous.domain.events import Event
from nous.jobs.base import BARE, JobNames, job_id
from nous.pipeline.worker import Handler, Worker, WorkerContext
from nous.redaction.error_text import folded, place, redacted, said, traced

_MOST_CONFLICTS = 50
"""Conflicts in a row before the delivery is deferred. Each means that another worker has made progress."""
_PUT_OFF = 2.0

log = structlog.get_logger(__name__)


def execute(
    worker: Worker, delivery: Delivery, *, context: WorkerContext, bus: Bus, retry_policy: RetryPolicy
) -> Verdict:
    """Run *worker* on *delivery* and commit its effects, once.

    A commit that conflicts (another worker learned something meanwhile) runs the handler again. Costly parts are
    cached, so the second run is cheap. On the last attempt that *retry_policy* allows, the degraded result that a
    handler offers is committed. A commit that meets an outage is retried for as long as a lease. Raises `Deferred`
    after too many conflicts in a row, and any error of the handler.
    """
    began = time.monotonic()
    handler = worker.handler_factory(context)
    event, reason = context.redacted(delivery.event), ""
    for _ in range(_MOST_CONFLICTS):
        effects = _effects(handler, event, delivery, retry_policy)
        verdict = retry_until_deadline(partial(bus.commit, delivery, effects), seconds=retry_policy.lease)
        if not isinstance(verdict, Conflict):
            _log_outcome(verdict, effects, round(time.monotonic() - began, 3))
            return verdict
        reason = verdict.reason
    wait = timedelta(seconds=_PUT_OFF * (1 + random.random()))  # noqa: S311 (spreading load is no secret)
    raise Deferred(f"refused {_MOST_CONFLICTS} times in a row, last because {reason}", until=context.clock() + wait)


def _effects(handler: Handler, event: Event, delivery: Delivery, retry_policy: RetryPolicy) -> Effects:
    try:
        return handler(event)
    except DegradedResult as offer:
        if not retry_policy.is_exhausted(delivery.state.failed("")):
            raise
        log.warning("handler.degraded", reason=redacted(str(offer)))
        return offer.effects


def _log_outcome(verdict: Verdict, effects: Effects, seconds: float) -> None:
    if isinstance(verdict, Duplicate):
        log.info("delivery.already_committed", seconds=seconds)
    elif effects.skipped:
        log.info("delivery.skipped", reason=effects.skipped, seconds=seconds)
    else:
        log.info("delivery.done", emitted=len(effects.events), seconds=seconds)


class LeaseKeeper:
    """Renews the lease of each delivery being handled, until its deadline. Times are in seconds.

    A delivery that outlives its deadline is resubmitted. Its handler may still commit: the first commit wins.
    """

    def __init__(self, bus: Bus, *, lease: float, deadline: float) -> None:
        self._bus = bus
        self._lease = lease
        self._deadline = deadline
        self._held: dict[object, tuple[DeliveryRef, float]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    @contextmanager
    def held(self, ref: DeliveryRef) -> Generator[None]:
        """Keep the lease of *ref* from expiring while the block runs."""
        hold = object()  # unique: a hung attempt may end while the next one at the same delivery runs here
        with self._lock:
            self._start()
            self._held[hold] = ref, time.monotonic() + self._deadline
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(hold, None)

    def stop(self) -> None:
        self._stopping.set()
        if self._thread:
            self._thread.join()

    def _start(self) -> None:
        # Started at first use, so that a process that forks before it has any work does not fork a thread.
        if self._thread is None:
            thread = threading.Thread(target=self._renew_forever, name="leases", daemon=True)
            thread.start()
            self._thread = thread

    def _renew_forever(self) -> None:
        renewing = RetryBackoff("lease_renewal")
        while not self._stopping.wait(self._lease / 3):
            with renewing.guard():
                self._bus.renew(self._alive(), lease=self._lease)

    def _alive(self) -> list[DeliveryRef]:
        with self._lock:
            now = time.monotonic()
            return [ref for ref, deadline in self._held.values() if now < deadline]


class AttemptFailed(NousError):
    """The attempt failed, and its consequence is recorded. Shown by dashboards."""


@dataclass(eq=False)
class Attempts:
    """Runner of every job. Jobs name each worker with the prefix of *names*."""

    workers: Mapping[str, Worker]
    _: KW_ONLY
    bus: Bus
    context: WorkerContext
    retry_policy: RetryPolicy
    leases: LeaseKeeper
    names: JobNames = BARE

    def __post_init__(self) -> None:
        self._workers = {self.names.own(name): worker for name, worker in self.workers.items()}

    def __call__(self, worker: str, priority: str, entry: str, attempt: int) -> str:
        """Make the attempt; return its outcome. Raises `AttemptFailed` once recorded, `NotFound`."""
        ref = self._ref(worker, priority, entry)
        delivery = self.bus.begin(ref, attempt=attempt, lease=self.retry_policy.lease)
        if delivery is None:
            found = self.bus.open(ref)
            return f"nothing to do: {found.state.in_words if found else 'it is over'}"
        event = delivery.event
        with structlog.contextvars.bound_contextvars(
            worker=ref.subscription.group,
            event_id=str(event.id),
            session_id=event.session_id,
            scope=str(event.scope),
            attempt=attempt,
            job_id=self.names.own_id(job_id(ref.subscription.group, event.id, attempt)),
        ):
            return self._run(self._workers[worker], delivery)

    def blame(self, worker: str, priority: str, entry: str, attempt: int) -> None:
        """Record that a quarantined attempt crashed its process although nothing else ran in it."""
        delivery = self.bus.open(self._ref(worker, priority, entry))
        if delivery is None:
            return
        progress = delivery.state.died("its process died in quarantine, where it ran alone")
        attempt_failure = AttemptFailure(fate=AttemptOutcome.KILLED, attempt=attempt, text=progress.reason)
        if self.bus.compare_and_set_state(
            delivery.ref, before=delivery.state, after=progress, lease=0, attempt_failure=attempt_failure
        ):
            log.error(
                "delivery.killed_process", event_id=str(delivery.event.id), attempt=attempt, deaths=progress.deaths
            )

    def _ref(self, worker: str, priority: str, entry: str) -> DeliveryRef:
        if worker not in self._workers:
            raise NotFound(f"there is no worker {worker!r} here; there are {', '.join(sorted(self._workers))}")
        found = self._workers[worker]
        return DeliveryRef(Subscription(found.name, found.consumes), Priority(priority), entry)

    def _run(self, worker: Worker, delivery: Delivery) -> str:
        try:
            with self.leases.held(delivery.ref):
                verdict = execute(worker, delivery, context=self.context, bus=self.bus, retry_policy=self.retry_policy)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 (all that a handler raises, even to exit, is recorded here)
            raise AttemptFailed(self._settle(delivery, error)) from None
        return "done" if isinstance(verdict, Committed) else "nothing to do: it was committed meanwhile"

    def _settle(self, delivery: Delivery, error: BaseException) -> str:
        reason, trace = said(error), traced(error)
        if not isinstance(error, NousError):
            log.error("handler.unexpected_exception", error=reason, traceback="\n".join(folded(trace)))
        attempt_failure = AttemptFailure(
            fate=AttemptOutcome.FAILED, attempt=delivery.state.attempt, text=reason, place=place(error)
        )
        match error:
            case Misconfigured() | InTheWay():
                # The operator has to change something, which takes a while. The event is not at fault.
                return self._fail(delivery, attempt_failure, trace, seconds=self.retry_policy.backoff_cap)
            case Fatal():
                return self._dead_letter(delivery, reason, attempt_failure, trace)
            case Deferred():
                wait = max((error.until - self.context.clock()).total_seconds(), self.retry_policy.backoff_base)
                attempt_failure = replace(attempt_failure, fate=AttemptOutcome.PUT_OFF)
                return self._put_off(delivery, delivery.state.put_off(reason), wait, attempt_failure)
            case Retryable() | _:
                return self._fail(delivery, attempt_failure, trace)

    def _fail(
        self, delivery: Delivery, attempt_failure: AttemptFailure, trace: str, *, seconds: float | None = None
    ) -> str:
        """Count an error; retry after *seconds* or the backoff, or dead-letter it at the last one."""
        failed = delivery.state.failed(attempt_failure.text)
        if self.retry_policy.is_exhausted(failed):
            return self._dead_letter(
                delivery, f"failed {failed.errors} times; {attempt_failure.text}", attempt_failure, trace
            )
        usual = self.retry_policy.backoff(failed, delivery.event.id)
        return self._put_off(delivery, failed, usual if seconds is None else seconds, attempt_failure)

    def _dead_letter(self, delivery: Delivery, reason: str, attempt_failure: AttemptFailure, trace: str) -> str:
        recorded = partial(
            self.bus.dead_letter,
            delivery.ref,
            progress=delivery.state,
            reason=reason,
            attempt_failure=attempt_failure,
            traceback=trace,
        )
        if retry_until_deadline(recorded, seconds=self.retry_policy.lease):
            log.error("delivery.dead_lettered", reason=reason)
        return reason

    def _put_off(
        self, delivery: Delivery, progress: DeliveryState, seconds: float, attempt_failure: AttemptFailure
    ) -> str:
        arguments = {"before": delivery.state, "after": progress, "lease": seconds, "attempt_failure": attempt_failure}
        if not retry_until_deadline(
            partial(self.bus.compare_and_set_state, delivery.ref, **arguments), seconds=self.retry_policy.lease
        ):
            return progress.reason  # another process has continued with it meanwhile
        log.warning(
            "delivery.retry_scheduled", reason=progress.reason, seconds=round(seconds, 1), errors=progress.errors
        )
        return progress.reason
