"""Creates missing consumer groups.

A group starts at id 0, so it gets all past events however late it is created.
"""

from collections.abc import Sequence
from typing import Any

import redis

from nous.bus.base import Subscription
from nous.domain.events import Event
from nous.redis_support.errors import translated


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
