"""One attempt at one delivery: what an RQ job does."""

import random
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial

import structlog

from nous.bus.base import Bus, Committed, Delivery, Duplicate, Lane, Refused, Subscription, Ticket, Verdict
from nous.bus.delivery_state import Fate, Mishap, Patience, Progress
from nous.domain.effects import Compromise, Effects
from nous.domain.errors import Deferred, Fatal, InTheWay, Misconfigured, NotFound, NousError, Retryable
from nous.jobs.base import BARE, JobNames, job_id
from nous.pipeline.worker import Handler, Kit, Worker
from nous.redaction.error_text import redacted
from nous.redaction.tracebacks import folded, place, said, traced
from nous.runtime.lease_renewal import LeaseKeeper
from nous.runtime.retry import insist

_REFUSALS = 50
"""How often a commit may be refused before the delivery is put off; each refusal means that somebody else got on."""
_PUT_OFF = 2.0

log = structlog.get_logger(__name__)


def execute(worker: Worker, delivery: Delivery, *, kit: Kit, bus: Bus, patience: Patience) -> Verdict:
    """Run *worker* on *delivery* and commit its effects, once.

    A commit refused as stale (another worker learned something meanwhile) runs the handler again; the kit remembers its
    costly parts, so the second run is cheap. A handler that offers a compromise, at the last of the attempts that
    *patience* allows, is taken at its word. A server that is out is waited for as long as a lease.

    Raises:
        Deferred: it was refused too often in a row.
        NousError: whatever the handler raises.
    """
    began = time.monotonic()
    handler = worker.build(kit)
    reason = ""
    for _ in range(_REFUSALS):
        effects = _effects(handler, delivery, patience)
        verdict = insist(partial(bus.commit, delivery, effects), seconds=patience.lease)
        if not isinstance(verdict, Refused):
            _say(verdict, effects, round(time.monotonic() - began, 3))
            return verdict
        reason = verdict.reason
    wait = timedelta(seconds=_PUT_OFF * (1 + random.random()))  # noqa: S311 (spreading load is no secret)
    raise Deferred(f"refused {_REFUSALS} times in a row, last because {reason}", until=kit.clock() + wait)


def _effects(handler: Handler, delivery: Delivery, patience: Patience) -> Effects:
    try:
        return handler(delivery.event)
    except Compromise as offer:
        if not patience.is_exhausted(delivery.progress.failed("")):
            raise
        log.warning("made do with less", reason=redacted(str(offer)))
        return offer.effects


def _say(verdict: Verdict, effects: Effects, seconds: float) -> None:
    if isinstance(verdict, Duplicate):
        log.info("too late: it was committed meanwhile", seconds=seconds)
    elif effects.skipped:
        log.info("skipped", reason=effects.skipped, seconds=seconds)
    else:
        log.info("done", emitted=len(effects.events), seconds=seconds)


class AttemptFailed(NousError):
    """The attempt came to nothing. What follows is written down; this tells the queue, so that dashboards show it."""


class Attempts:
    """Makes the attempts that jobs ask for. It is the `Runner` of every job.

    Jobs call each worker what *names* has it called; those of another installation know none of ours.
    """

    def __init__(
        self,
        workers: Mapping[str, Worker],
        *,
        bus: Bus,
        kit: Kit,
        patience: Patience,
        leases: LeaseKeeper,
        names: JobNames = BARE,
    ) -> None:
        self._workers = {names.own(name): worker for name, worker in workers.items()}
        self._names = names
        self._bus = bus
        self._kit = kit
        self._patience = patience
        self._leases = leases

    def __call__(self, worker: str, lane: str, entry: str, attempt: int) -> str:
        """Make the attempt and say what came of it; doing so twice is harmless.

        Raises:
            AttemptFailed: it failed, and what follows (another attempt, or a dead letter) is decided and written down.
            NotFound: this process does not know the worker, or it is another installation's.
        """
        ticket = self._ticket(worker, lane, entry)
        delivery = self._bus.begin(ticket, attempt=attempt, lease=self._patience.lease)
        if delivery is None:
            return f"nothing to do: {self._why_not(ticket)}"
        event = delivery.event
        with structlog.contextvars.bound_contextvars(
            worker=ticket.subscription.group,
            event_id=str(event.id),
            session_id=event.session_id,
            scope=str(event.scope),
            attempt=attempt,
            job_id=self._names.own_id(job_id(ticket.subscription.group, event.id, attempt)),
        ):
            return self._run(self._workers[worker], delivery)

    def _why_not(self, ticket: Ticket) -> str:
        delivery = self._bus.open(ticket)
        return delivery.progress.in_words if delivery else "it is over"

    def blame(self, worker: str, lane: str, entry: str, attempt: int) -> None:
        """Note that the process of a quarantined attempt died although nothing else ran in it.

        An attempt that hung is killed late, when the next one may have been submitted: its death counts all the same.
        """
        delivery = self._bus.open(self._ticket(worker, lane, entry))
        if delivery is None:
            return
        progress = delivery.progress.died("its process died in quarantine, where it ran alone")
        mishap = Mishap(fate=Fate.KILLED, attempt=attempt, text=progress.reason)
        if self._bus.amend(delivery.ticket, before=delivery.progress, after=progress, lease=0, mishap=mishap):
            log.error(
                "an event killed its process",
                event_id=str(delivery.event.id),
                attempt=attempt,
                deaths=progress.deaths,
            )

    def _ticket(self, worker: str, lane: str, entry: str) -> Ticket:
        if worker not in self._workers:
            raise NotFound(f"there is no worker {worker!r} here; there are {', '.join(sorted(self._workers))}")
        found = self._workers[worker]
        return Ticket(Subscription(found.name, found.consumes), Lane(lane), entry)

    def _run(self, worker: Worker, delivery: Delivery) -> str:
        try:
            with self._leases.held(delivery.ticket):
                verdict = execute(worker, delivery, kit=self._kit, bus=self._bus, patience=self._patience)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 (whatever a handler raises, be it to exit, is written down here)
            raise AttemptFailed(self._settle(delivery, error)) from None
        return "done" if isinstance(verdict, Committed) else "nothing to do: it was committed meanwhile"

    def _settle(self, delivery: Delivery, error: BaseException) -> str:
        """Decide what follows from *error*, write it down, and say it."""
        reason, trace = said(error), traced(error)
        if not isinstance(error, NousError):
            log.error("a handler raised what it should not", error=reason, traceback="\n".join(folded(trace)))
        mishap = Mishap(fate=Fate.FAILED, attempt=delivery.progress.attempt, text=reason, place=place(error))
        match error:
            case Misconfigured() | InTheWay():
                # What the operator has to change is not the event's fault, and takes a while.
                return self._fail(delivery, mishap, trace, seconds=self._patience.backoff_cap)
            case Fatal():
                return self._bury(delivery, reason, mishap, trace)
            case Deferred():
                wait = max((error.until - self._kit.clock()).total_seconds(), self._patience.backoff_base)
                mishap = replace(mishap, fate=Fate.PUT_OFF)
                return self._put_off(delivery, delivery.progress.put_off(reason), wait, mishap)
            case Retryable() | _:
                return self._fail(delivery, mishap, trace)

    def _fail(self, delivery: Delivery, mishap: Mishap, trace: str, *, seconds: float | None = None) -> str:
        """Count an error, and have it tried again after that many *seconds*, or the usual backoff; or give it up."""
        failed = delivery.progress.failed(mishap.text)
        if self._patience.is_exhausted(failed):
            return self._bury(delivery, f"failed {failed.errors} times; {mishap.text}", mishap, trace)
        usual = self._patience.backoff(failed, delivery.event.id)
        return self._put_off(delivery, failed, usual if seconds is None else seconds, mishap)

    def _bury(self, delivery: Delivery, reason: str, mishap: Mishap, trace: str) -> str:
        told = {"progress": delivery.progress, "reason": reason, "mishap": mishap, "traceback": trace}
        if insist(partial(self._bus.bury, delivery.ticket, **told), seconds=self._patience.lease):
            log.error("dead letter", reason=reason)
        return reason

    def _put_off(self, delivery: Delivery, progress: Progress, seconds: float, mishap: Mishap) -> str:
        told = {"before": delivery.progress, "after": progress, "lease": seconds, "mishap": mishap}
        if not insist(partial(self._bus.amend, delivery.ticket, **told), seconds=self._patience.lease):
            return progress.reason  # somebody else has gone on with it meanwhile
        log.warning(
            "will be tried again",
            reason=progress.reason,
            seconds=round(seconds, 1),
            errors=progress.errors,
            # Who waits at no cost may do so for hours.
            seldom=f"{delivery.ticket.subscription.group} {delivery.ticket.name} {progress.errors}",
        )
        return progress.reason
