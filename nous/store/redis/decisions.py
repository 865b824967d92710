"""Read a session's decisions from Redis: stored ones, and published ones not committed yet.

A session may end before the worker that stores its decisions has processed them, for example after a pause of all
workers. Events which that worker has not committed are therefore read from the stream. At rest there are none.
"""

from collections.abc import Iterator, Sequence
from uuid import UUID

import redis
import structlog

from nous.bus.base import DeliveryRef, Priority, Subscription
from nous.bus.dead_letter import event_of
from nous.bus.redis.keys import BusKeys
from nous.bus.redis.streams import whole_entries
from nous.domain.episode import Decision, episode_id
from nous.domain.events import DecisionRecorded
from nous.domain.record_codec import decode
from nous.domain.scope import Scope
from nous.redis_support.errors import translated
from nous.store.base import in_order
from nous.store.keys import StoreKeys
from nous.store.redis import StorePart

MOST_WAITING = 2000
"""Limit of stream entries that are scanned. With a larger backlog, decisions have to be stored first."""

log = structlog.get_logger(__name__)


class RedisDecisions(StorePart):
    """`DecisionSource` on one Redis primary; *group* is the consumer group that stores them."""

    def __init__(self, client: redis.Redis, keys: StoreKeys, *, bus_keys: BusKeys, group: str) -> None:
        super().__init__(client, keys)
        self._bus_keys = bus_keys
        self._group = group

    def get_episode_decisions(self, episode_id: UUID, *, scope: Scope) -> Sequence[Decision]:
        # The stream first: a decision that is committed between the two reads would else be missed by both.
        waiting = {event.id: event.decision for event in self._waiting(scope, episode_id)}
        kept: dict[bytes, bytes] = self._ask("HGETALL", self._keys.decisions(scope, episode_id))
        return in_order(
            (waiting | {UUID(name.decode()): decode(Decision, each) for name, each in kept.items()}).values()
        )

    def _waiting(self, scope: Scope, wanted: UUID) -> Iterator[DecisionRecorded]:
        subscription = Subscription(self._group, DecisionRecorded)
        for priority in Priority:
            for entry, fields in self._uncommitted(self._bus_keys.stream(DecisionRecorded.type, priority)):
                event = event_of(fields.get(b"event", b""), DeliveryRef(subscription, priority, entry.decode()))
                is_decision = isinstance(event, DecisionRecorded)  # others are dead-lettered by the worker
                if is_decision and event.scope == scope and episode_id(scope, event.session_id) == wanted:
                    yield event

    def _uncommitted(self, stream: str) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
        """Yield the entries that the group has not committed, and some in between, page by page."""
        with translated():
            groups = self._client.xinfo_groups(stream) if self._client.exists(stream) else ()
            group = next((each for each in groups if each["name"] == self._group.encode()), None)
            pending = self._client.xpending(stream, self._group)["min"] if group and group["pending"] else None
        after = pending or (b"(" + group["last-delivered-id"] if group else b"-")
        for number, entry in enumerate(whole_entries(self._client, stream, after=after.decode())):
            if number == MOST_WAITING:
                log.warning(
                    "decisions.backlog_truncated", stream=stream, scanned=MOST_WAITING, hint="later ones are not seen"
                )
                return
            yield entry
