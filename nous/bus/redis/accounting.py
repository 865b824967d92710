"""What became of everything, read from Redis. Nothing here writes."""

from collections.abc import Iterable, Sequence
from itertools import starmap
from typing import Any
from uuid import UUID

import redis

from nous.bus.accounting import Account, Backlog, Location, Whereabouts
from nous.bus.base import Lane, Subscription, Ticket
from nous.bus.dead_letter import accepted_at, event_of, order, read_letter
from nous.bus.delivery_state import Progress
from nous.bus.redis.entries import entries, peek, whole_entries
from nous.bus.redis.keys import BusKeys, through
from nous.domain.errors import BadInput
from nous.domain.event_codec import decode
from nous.domain.events import Event
from nous.domain.scope import Scope
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts


class RedisLedger:
    """A `Ledger` over the keys of `RedisBus`."""

    def __init__(self, client: redis.Redis, keys: BusKeys | None = None) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._run = Scripts(client, package="nous.bus.redis")
        self._keys = keys or BusKeys()

    def account(self, subscription: Subscription) -> Account:
        with translated(), self._client.pipeline(transaction=True) as pipe:
            # One transaction: counters and pending lists read at different moments would not add up.
            pipe.hgetall(self._keys.account(subscription.group))
            pipe.zcard(self._keys.leases(subscription.group))
            for lane in Lane:
                pipe.xpending(self._keys.stream(subscription.kind.type, lane), subscription.group)
            answers: list[Any] = pipe.execute(raise_on_error=False)
            for wrong in (each for each in answers[:2] if isinstance(each, Exception)):
                raise wrong
        counts, leased, *pending = answers
        in_flight = sum(each["pending"] for each in pending if isinstance(each, dict))
        told = {name.decode(errors="replace"): _number(count) for name, count in counts.items()}
        return Account.of(told, in_flight=in_flight, leased=leased)

    def backlogs(self, subscription: Subscription) -> Sequence[Backlog]:
        return [self._backlog(subscription, lane) for lane in Lane]

    def locate(self, event_id: UUID, subscription: Subscription) -> Location:
        with translated():
            place = self._client.get(self._keys.marker(event_id))
            # Who may only publish can see that an event was not, and is not let see more.
            skipped = place and self._client.get(self._keys.skipped(subscription.group, event_id))
        if place is None:
            return Location(where=Whereabouts.UNKNOWN)
        ticket = Ticket.named(place.decode(), subscription)
        if skipped is not None:
            return Location(where=Whereabouts.SKIPPED, ticket=ticket, reason=skipped.decode())
        return self._search(ticket)

    def event(self, ticket: Ticket) -> Event | None:
        # Whoever asks may write, and so run scripts; what a letter is about may be too large to be read.
        stream = self._keys.stream(ticket.subscription.kind.type, ticket.lane)
        return event_of(peek(self._run, stream, ticket.entry), ticket)

    def events_of(self, session_id: str, scope: Scope, kind: type[Event]) -> Sequence[UUID]:
        told = (entry for lane in Lane for entry in entries(self._client, self._keys.stream(kind.type, lane)))
        found = (_told(entry, raw, kind) for entry, raw in told if _may_name(raw, session_id))
        return list(
            dict.fromkeys(each.id for each in found if each and (each.session_id, each.scope) == (session_id, scope))
        )

    def _search(self, ticket: Ticket) -> Location:
        stream, group = self._keys.stream(ticket.subscription.kind.type, ticket.lane), ticket.subscription.group
        with translated():
            is_there = self._client.xrange(stream, ticket.entry, ticket.entry)
        if not is_there:  # the event is of another kind, or was trimmed
            return Location(where=Whereabouts.UNKNOWN)
        known = self._group(stream, group)
        if known and (found := self._in_flight(ticket)):
            return found
        if order(ticket.entry) > order(known.get("last-delivered-id", b"0-0").decode()):
            with translated():
                is_through = self._client.hexists(self._keys.progress(group), through(ticket.name))
            if not is_through:
                return Location(where=Whereabouts.WAITING, ticket=ticket)
        # Most are about others, which need not be read to be told by that.
        letters = whole_entries(self._client, self._keys.letters)
        near = (each for each in letters if each[1].get(b"entry") == ticket.entry.encode())
        for letter in starmap(read_letter, near):
            if letter.is_about(ticket):
                return Location(where=Whereabouts(letter.grave.value), ticket=ticket, reason=letter.reason)
        # Its letter may have been redriven while the others were read.
        again = self._in_flight(ticket) if known else None
        return again or Location(where=Whereabouts.DONE, ticket=ticket)

    def _in_flight(self, ticket: Ticket) -> Location | None:
        """Where the event is if its group has it pending, which must be there."""
        stream, group = self._keys.stream(ticket.subscription.kind.type, ticket.lane), ticket.subscription.group
        with translated():
            if not self._client.xpending_range(stream, group, ticket.entry, ticket.entry, 1):
                return None
            raw: bytes | None = self._client.hget(self._keys.progress(group), ticket.name)
            lease_ends = self._client.zscore(self._keys.leases(group), ticket.name)
        progress = Progress.decode(raw) if raw else None
        return Location(
            where=Whereabouts.IN_FLIGHT,
            ticket=ticket,
            reason=progress.in_words if progress else "",
            next_try=progress.next_try(lease_ends) if progress else None,
        )

    def _backlog(self, subscription: Subscription, lane: Lane) -> Backlog:
        stream = self._keys.stream(subscription.kind.type, lane)
        group = self._group(stream, subscription.group)
        with translated():
            length = int(self._client.xlen(stream))
            pending: dict[str, Any] = self._client.xpending(stream, subscription.group) if group else {}
        waiting = self._waiting(stream, group) if group else length
        return Backlog(
            lane=lane,
            length=length,
            waiting=waiting,
            pending=int(pending.get("pending", 0)),
            oldest_pending=accepted_at(oldest.decode()) if (oldest := pending.get("min")) else None,
        )

    def _waiting(self, stream: str, group: dict[str, Any]) -> int | None:
        """How many entries the group has not read; None where the server says nil, and it is not none.

        It does after an XDEL in the part that was not read yet, also when nothing is left of that; and it goes on
        counting what a foreign producer has cut off there (XTRIM, MAXLEN).
        """
        lag: int | None = group.get("lag")
        if lag == 0:
            return 0
        with translated():
            ahead = self._client.xrange(stream, f"({group['last-delivered-id'].decode()}", count=1)
        return lag if ahead else 0

    def _group(self, stream: str, group: str) -> dict[str, Any]:
        """What the server knows of a group; nothing when there is no such group yet."""
        with translated():
            groups: Iterable[dict[str, Any]] = self._client.xinfo_groups(stream) if self._client.exists(stream) else ()
        return next((each for each in groups if each["name"] == group.encode()), {})


def _number(count: bytes) -> int:
    """A counter; 0 of what somebody else has made of it, so that the account says that it does not add up."""
    try:
        return int(count)
    except ValueError:
        return 0


def _may_name(raw: bytes, session_id: str) -> bool:
    """Whether it is worth decoding: a plain id stands in the bytes as it is, another may be escaped."""
    return not session_id.isascii() or not session_id.isalnum() or session_id.encode() in raw


def _told(entry: str, raw: bytes, kind: type[Event]) -> Event | None:
    try:
        return decode(raw, type_hint=kind.type, accepted_at=accepted_at(entry))
    except BadInput:
        return None
