"""Creates missing consumer groups, and finds deliveries with an expired lease.

A group starts at id 0, so it gets all past events however late it is created.
"""

from collections.abc import Sequence
from typing import Any

import redis
import structlog

from nous.bus.base import DeliveryRef, Priority, Subscription
from nous.bus.delivery_state import UNREADABLE, DeliveryState
from nous.bus.redis.keys import BusKeys
from nous.domain.events import Event
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts


class ConsumerGroups:
    """Creates consumer groups, and remembers which ones exist.

    *subscriptions* are groups that any caller may have to create, so that they miss nothing of a producer that starts
    before them, and autoscalers find them.
    """

    def __init__(self, client: Any, subscriptions: Sequence[Subscription] = ()) -> None:
        self._client = client
        self._subscriptions = subscriptions
        self._known: set[tuple[str, str]] = set()

    def ensure_subscribers(self, stream: str, kind: type[Event]) -> None:
        """Create every group that consumes events of *kind*."""
        for subscription in self._subscriptions:
            if subscription.kind.type == kind.type:
                self.ensure(stream, subscription.group)

    def ensure(self, stream: str, group: str) -> None:
        """Create the group and its stream, unless they are known to exist."""
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
        """Clear the cache of known groups, since some have disappeared."""
        self._known.clear()

    def read_up_to(self, stream: str, group: str) -> bytes:
        """Return the id of the last entry that was delivered to the group."""
        self.ensure(stream, group)
        with translated():
            groups = self._client.xinfo_groups(stream)
        return next((each["last-delivered-id"] for each in groups if each["name"] == group.encode()), b"0-0")


log = structlog.get_logger(__name__)


def overdue(
    run: Scripts, keys: BusKeys, subscription: Subscription, *, limit: int
) -> Sequence[tuple[DeliveryRef, DeliveryState]]:
    """Return the deliveries with an expired lease, and their states.

    A state that cannot be read is replaced by a fresh one. A lease that belongs to no delivery is deleted.
    """
    group = subscription.group
    leases, progress = keys.leases(group), keys.progress(group)
    found, unowned = run("expired_leases", (leases, progress), (limit, *(priority.value for priority in Priority)))
    if unowned:
        log.error("lease.unowned_deleted", group=group, leases=len(unowned), hint="another program wrote them")
    pairs = [(name, raw, _read(raw)) for name, raw in zip(found[::2], found[1::2], strict=True)]
    for name, raw, state in pairs:
        # Each step compares the stored bytes, so they have to be as this release encodes the state. A later release,
        # which was rolled back since, may have added to them.
        is_as_read = raw is None or raw == state.encode()
        has_replaced = not is_as_read and run("replace_key", (progress,), (name, raw, state.encode()))
        if has_replaced and state.reason == UNREADABLE:
            log.error("delivery.state_reset", group=group, delivery=name.decode(), hint=UNREADABLE)
    return [(DeliveryRef.named(name.decode(), subscription), state) for name, _, state in pairs]


def _read(raw: bytes | None) -> DeliveryState:
    return DeliveryState() if raw is None else DeliveryState.decode(raw)
