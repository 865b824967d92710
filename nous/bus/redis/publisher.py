"""Idempotent publishing on Redis, only with the event's upload, and on disk if requested."""

from collections.abc import Callable, Sequence
from typing import Any

import redis

from nous.bus.base import Priority, PublishReceipt
from nous.bus.redis.blocking import wait_for_disk, wait_for_write
from nous.bus.redis.consumer_groups import ConsumerGroups
from nous.bus.redis.keys import BusKeys
from nous.bus.tombstones import name_of, refusal
from nous.domain.errors import Unavailable
from nous.domain.event_codec import encode
from nous.domain.events import Event
from nous.redis_support.scripts import Scripts

_FORGOTTEN, _BARE = -1, -2
"""Replies of the script for an event that it did not append: erased, or without its upload."""


class RedisPublisher:
    """The publishing part of `RedisBus`.

    *upload_of* returns the key of an event's upload, if it has one.
    """

    def __init__(
        self,
        client: redis.Redis,
        keys: BusKeys,
        run: Scripts,
        groups: ConsumerGroups,
        *,
        upload_of: Callable[[Event], str | None],
        marker_ttl: int,
    ) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._keys = keys
        self._run = run
        self._groups = groups
        self._upload_of = upload_of
        self._marker_ttl = marker_ttl

    def publish(self, *events: Event, priority: Priority, durable: bool) -> Sequence[PublishReceipt]:
        for kind in {type(event) for event in events}:
            self._groups.ensure_subscribers(self._keys.stream(kind.type, priority), kind)
        receipts = [self._publish(event, priority) for event in events]
        markers = [self._keys.marker(each.event_id) for each in receipts]
        if durable:
            # This covers the upload: the script has found it, so it stands before the event in the AOF.
            wait_for_disk(self._client, markers, ttl=self._marker_ttl)
        elif markers:
            wait_for_write(self._client, markers)
        return receipts

    def _publish(self, event: Event, priority: Priority) -> PublishReceipt:
        keys = [self._keys.stream(event.type, priority), self._keys.marker(event.id), self._keys.forgotten(event.scope)]
        if upload := self._upload_of(event):
            keys.append(upload)
        fresh, place = self._run("publish", keys, (encode(event), priority.value, self._marker_ttl, name_of(event)))
        if fresh == _FORGOTTEN:
            raise refusal(event, place)
        if fresh == _BARE:
            raise Unavailable(
                f"what was uploaded of session {event.session_id} is not on the server any more: publish it again"
            )
        lane_name, _, entry = place.decode().partition("/")
        return PublishReceipt(event.id, Priority(lane_name), entry, bool(fresh))
