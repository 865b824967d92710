"""What became of everything, read from Redis. Nothing here writes."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import redis

from nous.bus.base import Account, Backlog, Lane, Subscription, Ticket, Whereabouts
from nous.bus.keys import BusKeys
from nous.bus.letters import accepted_at, read_letter
from nous.bus.redis_errors import translated


class RedisLedger:
    """A `Ledger` over the keys of `RedisBus`."""

    def __init__(self, client: redis.Redis, keys: BusKeys | None = None) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._keys = keys or BusKeys()

    def account(self, subscription: Subscription) -> Account:
        with translated(), self._client.pipeline(transaction=True) as pipe:
            # One transaction: counters and pending lists read at different moments would not add up.
            pipe.hgetall(self._keys.account(subscription.group))
            for lane in Lane:
                pipe.xpending(self._keys.stream(subscription.kind.type, lane), subscription.group)
            counts, *pending = pipe.execute(raise_on_error=False)
        in_flight = sum(each["pending"] for each in pending if isinstance(each, dict))
        return Account.of({name.decode(): int(count) for name, count in counts.items()}, in_flight=in_flight)

    def backlogs(self, subscription: Subscription) -> Sequence[Backlog]:
        return [self._backlog(subscription, lane) for lane in Lane]

    def locate(self, event_id: UUID, subscription: Subscription) -> tuple[Whereabouts, Ticket | None]:
        with translated():
            place = self._client.get(self._keys.marker(event_id))
        if place is None:
            return Whereabouts.UNKNOWN, None
        ticket = Ticket.named(place.decode(), subscription)
        return self._whereabouts(ticket), ticket

    def _whereabouts(self, ticket: Ticket) -> Whereabouts:
        stream, group = self._keys.stream(ticket.subscription.kind.type, ticket.lane), ticket.subscription.group
        read_up_to = self._group(stream, group).get("last-delivered-id", b"0-0").decode()
        if _order(ticket.entry) > _order(read_up_to):
            return Whereabouts.WAITING
        with translated():
            if self._client.xpending_range(stream, group, ticket.entry, ticket.entry, 1):
                return Whereabouts.IN_FLIGHT
            letters = self._client.xrange(self._keys.letters)
        buried = (read_letter(*each) for each in letters)
        return next((Whereabouts(letter.grave.value) for letter in buried if letter.is_about(ticket)), Whereabouts.DONE)

    def _backlog(self, subscription: Subscription, lane: Lane) -> Backlog:
        stream = self._keys.stream(subscription.kind.type, lane)
        group = self._group(stream, subscription.group)
        with translated():
            length = int(self._client.xlen(stream))
            pending: dict[str, Any] = self._client.xpending(stream, subscription.group) if group else {}
        # The server says nil after an XDEL in the part that was not read yet: then nobody can tell.
        waiting = group.get("lag") if group else length
        return Backlog(
            lane=lane,
            length=length,
            waiting=None if waiting is None else int(waiting),
            pending=int(pending.get("pending", 0)),
            oldest_pending=accepted_at(oldest.decode()) if (oldest := pending.get("min")) else None,
        )

    def _group(self, stream: str, group: str) -> dict[str, Any]:
        """What the server knows of a group; nothing when there is no such group yet."""
        with translated():
            groups: Iterable[dict[str, Any]] = self._client.xinfo_groups(stream) if self._client.exists(stream) else ()
        return next((each for each in groups if each["name"] == group.encode()), {})


def _order(entry: str) -> tuple[int, int]:
    milliseconds, _, sequence = entry.partition("-")
    return int(milliseconds), int(sequence or 0)
