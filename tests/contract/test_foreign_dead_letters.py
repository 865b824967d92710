"""A dead letter that somebody else has written is told as unreadable, and is in nobody's way."""

from typing import Any
from uuid import UUID

import pytest
import redis

from nous.bus.accounting import EventStatus
from nous.bus.base import Priority, Subscription
from nous.bus.erasure import ErasureTarget
from nous.bus.redis.accounting import RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.dead_letters import RedisDeadLetterQueue
from nous.bus.redis.erasure import RedisBusErasure
from nous.bus.redis.keys import BusKeys
from nous.domain.events import SessionEnded
from nous.domain.scope import Scope

KEYS = BusKeys("t")
SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
OURS: dict[Any, Any] = {
    "group": "g",
    "kind": "session_ended",
    "lane": "live",
    "entry": "1-1",
    "grave": "dead",
    "reason": "why",
}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"reason": "why", "session_id": "s1"}, "unreadable: it has no field 'group'"),
        (OURS | {"lane": "fast"}, "unreadable: 'fast' is not a valid Priority"),
        (OURS | {"attempts": "many"}, "unreadable: invalid literal for int() with base 10: 'many'"),
        ({b"\xff": b"\xff"}, "unreadable: it has no field 'group'"),
    ],
)
def test_a_letter_of_somebody_else_is_told_as_unreadable_beside_ours(
    client: redis.Redis, ended: Any, fields: dict[Any, Any], why: str
) -> None:
    bus = RedisBus(client, plan_of=lambda _: CommitPlan(), keys=KEYS)
    dead, delivery_stats = RedisDeadLetterQueue(client, KEYS), RedisDeliveryStats(client, KEYS)
    client.xadd(KEYS.letters, fields)
    [receipt] = bus.publish(ended())
    [delivery] = bus.receive(SUMMARIZER, priority=Priority.LIVE, limit=1, lease=60)
    bus.dead_letter(delivery.ref, progress=delivery.state, reason="cannot work")

    theirs, ours = dead.letters()

    assert (theirs.reason, theirs.is_readable, dead.find(theirs.id)) == (why, False, theirs)
    assert (ours.reason, ours.is_readable) == ("cannot work", True)
    assert delivery_stats.locate(receipt.event_id, SUMMARIZER).where is EventStatus.DEAD
    assert dead.drop(theirs)


def test_a_letter_of_somebody_else_goes_with_the_session_it_names_and_is_counted_where_it_names_none(
    client: redis.Redis, ended: Any
) -> None:
    bus, erasure = (
        RedisBus(client, plan_of=lambda _: CommitPlan(), keys=KEYS),
        RedisBusErasure(client, KEYS, marker_ttl=60),
    )
    event = ended()
    bus.publish(event)
    named: Any = client.xadd(KEYS.letters, {"session_id": event.session_id})
    client.xadd(KEYS.letters, {"session": "unknown"})

    found = erasure.find(ErasureTarget(scope=event.scope, session_id=event.session_id))

    assert found.letters == (named.decode(),)
    assert found.unreadable == 1


def test_a_letter_of_any_length_leaves_no_more_than_a_line_when_it_is_dropped(client: redis.Redis) -> None:
    server: Any = client
    server.xadd(KEYS.letters, OURS | {"reason": "x" * 5_000_000, "event_id": str(UUID(int=1))})
    dead = RedisDeadLetterQueue(client, KEYS)

    assert dead.drop(dead.letters()[0])

    assert server.get(KEYS.skipped("g", UUID(int=1))).startswith(b"its letter was dropped; xxx")
    assert len(server.get(KEYS.skipped("g", UUID(int=1))).decode()) == 1000


def test_a_letter_that_claims_to_be_of_the_end_of_time_is_in_nobody_s_way(client: redis.Redis) -> None:
    client.xadd(KEYS.letters, OURS | {"first": "9" * 400})
    dead, erasure = RedisDeadLetterQueue(client, KEYS), RedisBusErasure(client, KEYS, marker_ttl=60)

    [letter] = dead.letters()

    assert (letter.at.year, letter.reason) == (9999, "why")
    assert erasure.find(ErasureTarget(scope=Scope(), session_id="s")).letters == ()
