"""A server that loses its last writes under those who have just read them."""

from collections.abc import Sequence
from typing import Any

import fakeredis
from typing_extensions import override  # typing has it from Python 3.12 on

from nous.bus.base import Priority, Subscription
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.keys import BusKeys
from nous.domain.events import SessionEnded

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
KEYS = BusKeys("t")


class Losing(RedisBus):
    """A bus whose server loses what it has taken, once that was read."""

    def __init__(self, client: fakeredis.FakeRedis) -> None:
        super().__init__(client, plan_of=lambda _: CommitPlan(), keys=KEYS)
        self._own = client

    @override
    def _take(
        self, subscription: Subscription, priority: Priority, limit: int, lease: float
    ) -> Sequence[tuple[bytes, Any]]:
        taken = super()._take(subscription, priority, limit, lease)
        stream = KEYS.stream(subscription.kind.type, priority)
        for entry, _ in taken:
            self._own.xack(stream, subscription.group, entry)
            self._own.xdel(stream, entry)
        for marker in self._own.keys("*:marker:*"):
            self._own.delete(marker)
        return taken


def test_what_was_lost_leaves_no_marker_and_can_be_said_again(ended: Any) -> None:
    client = fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)
    bus = Losing(client)
    bus.publish(ended())

    assert list(bus.receive(SUMMARIZER, priority=Priority.LIVE, limit=10, lease=60)) == []

    assert client.keys("*:marker:*") == []
    assert [receipt.fresh for receipt in bus.publish(ended())] == [True]
