"""Consumer groups, made where they are missing: at id 0, so that a group gets the past however late it comes."""

from collections.abc import Sequence
from typing import Any

import redis

from nous.bus.base import Subscription
from nous.bus.redis_errors import translated
from nous.events import Event


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
