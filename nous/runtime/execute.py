"""Running a handler on a delivery, and committing what it returns, once."""

import random
import time
from datetime import timedelta
from functools import partial

import structlog

from nous.bus.base import Bus, Delivery, Duplicate, Refused, Verdict
from nous.bus.progress import Patience
from nous.effects import Compromise, Effects
from nous.errors import Deferred
from nous.kit import Handler, Kit, Worker
from nous.redaction import redacted
from nous.runtime.insist import insist

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
