"""What is overdue, in Redis. What somebody else has written among it keeps nobody waiting."""

from collections.abc import Sequence

import structlog

from nous.bus.base import Lane, Subscription, Ticket
from nous.bus.keys import BusKeys
from nous.bus.progress import UNREADABLE, Progress
from nous.bus.scripts import Scripts

log = structlog.get_logger(__name__)


def overdue(
    run: Scripts, keys: BusKeys, subscription: Subscription, *, limit: int
) -> Sequence[tuple[Ticket, Progress]]:
    """The deliveries whose lease has ended. Progress that cannot be read begins anew; a lease of none is forgotten."""
    group = subscription.group
    leases, progress = keys.leases(group), keys.progress(group)
    found, strange = run("overdue", (leases, progress), (limit, *(lane.value for lane in Lane)))
    if strange:
        log.error("leases of no delivery are forgotten: somebody else wrote them", group=group, leases=len(strange))
    pairs = [(name, raw, _read(raw)) for name, raw in zip(found[::2], found[1::2], strict=True)]
    for name, raw, told in pairs:
        # Compared as it is stored with each step, so it has to stand there as it is understood: also where a later
        # release has added to it, which may have been taken back since.
        is_as_read = raw is None or raw == told.encode()
        has_replaced = not is_as_read and run("replace", (progress,), (name, raw, told.encode()))
        if has_replaced and told.reason == UNREADABLE:
            log.error("progress cannot be read: the delivery begins anew", group=group, delivery=name.decode())
    return [(Ticket.named(name.decode(), subscription), told) for name, _, told in pairs]


def _read(raw: bytes | None) -> Progress:
    return Progress() if raw is None else Progress.decode(raw)
