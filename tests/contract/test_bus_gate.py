"""The last gate: a bus masks secrets in all events and effects that it writes."""

from typing import Any

import pytest
import redis
from builders.buses import LEASE, SUMMARIZER
from builders.keyspace import keys_with

from nous.bus.base import Priority
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects
from nous.redaction.redactor import Redaction, Redactor

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # noqa: S105


@pytest.fixture
def bus(redis_client: redis.Redis, clock: Any) -> RedisBus:
    gate = Redaction(Redactor()).record
    return RedisBus(redis_client, plan_of=lambda _: CommitPlan(), keys=BusKeys("t"), clock=clock, gate=gate)


def test_no_secret_of_a_published_event_is_written(bus: RedisBus, redis_client: redis.Redis, ended: Any) -> None:
    bus.publish(ended(text=f"User: use {TOKEN}"))

    assert keys_with(redis_client, "[secret:github-pat]")
    assert keys_with(redis_client, TOKEN) == {}


def test_no_secret_of_what_follows_from_an_event_is_written(
    bus: RedisBus, redis_client: redis.Redis, ended: Any
) -> None:
    bus.publish(ended())
    [delivery] = bus.receive(SUMMARIZER, priority=Priority.LIVE, limit=1, lease=LEASE)

    bus.commit(delivery, Effects(events=(ended("next", text=f"User: use {TOKEN}"),)))

    assert keys_with(redis_client, "[secret:github-pat]")
    assert keys_with(redis_client, TOKEN) == {}
