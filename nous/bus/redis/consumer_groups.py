"""Consumer groups, made where they are missing: at id 0, so that a group gets the past however late it comes."""

from collections.abc import Sequence
from typing import Any

import redis
import structlog

from nous.bus.base import Lane, Subscription, Ticket
from nous.bus.delivery_state import UNREADABLE, Progress
from nous.bus.redis.keys import BusKeys
from nous.domain.events import Event
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts


class Groups:
    """Makes groups, and remembers which there are. *subscriptions* are those that anybody may have to make.

    So a producer that is there first loses nothing to them, and autoscalers find them.
    """

    def __init__(self, client: Any, subscriptions: Sequence[Subscription] = ()) -> None:
        self._client = client
        self._subscriptions = subscriptions
        self._known: set[tuple[str, str]] = set()

    def ensure_subscribers(self, stream: str, kind: type[Event]) -> None:
        """Make every group that wants events of *kind*."""
        for subscription in self._subscriptions:
            if subscription.kind.type == kind.type:
                self.ensure(stream, subscription.group)

    def ensure(self, stream: str, group: str) -> None:
        """Make the group, and the stream, unless it was known to be there."""
        if (stream, group) in self._known:
            return
        with translated():
            try:
                self._client.xgroup_create(stream, group, id="0", mkstream=True)
            except redis.ResponseError as error:
                if "BUSYGROUP" not in str(error):
                    raise
        self._known.add((stream, group))

    def forget(self) -> None:
        """Take none for known any more: some have disappeared."""
        self._known.clear()

    def read_up_to(self, stream: str, group: str) -> bytes:
        """The last entry that the group was offered."""
        self.ensure(stream, group)
        with translated():
            groups = self._client.xinfo_groups(stream)
        return next((each["last-delivered-id"] for each in groups if each["name"] == group.encode()), b"0-0")


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
