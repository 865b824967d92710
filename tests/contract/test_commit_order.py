"""In which order a script goes, since nothing of it is undone: what breaks off half-way can be done again."""

from typing import Any
from uuid import UUID

import pytest
import redis
from builders.stores import KEYS, WholeStore

from nous.bus.base import Bus, Committed, Conflict, Delivery, Priority, Subscription
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects, ExpectEpisode, RecordResummaryAttempt, SaveDecision
from nous.domain.episode import Decision
from nous.domain.errors import Fatal, InTheWay, NotAllowed
from nous.domain.events import FactsUnembedded, SessionEnded
from nous.domain.scope import Scope

TOY = Subscription("toy", SessionEnded)
HOME, SOME = Scope(), UUID(int=1)
FOLLOWING = BusKeys("t").stream(FactsUnembedded.type, Priority.LIVE)


@pytest.fixture
def bus(redis_client: redis.Redis) -> Bus:
    """A bus that writes the store."""
    return WholeStore(redis_client, prefix="t").bus


@pytest.fixture
def delivery(bus: Bus, ended: Any) -> Delivery:
    bus.publish(ended())
    [delivery] = bus.receive(TOY, priority=Priority.LIVE, limit=1, lease=60)
    return delivery


def test_a_commit_that_is_refused_leaves_its_delivery_pending(bus: Bus, delivery: Delivery) -> None:
    lost = ExpectEpisode(scope=HOME, episode_id=SOME, state="gone")

    assert isinstance(bus.commit(delivery, Effects(writes=(lost,))), Conflict)

    assert bus.open(delivery.ref) == delivery
    assert bus.commit(delivery, Effects()) == Committed()


def test_a_commit_that_breaks_off_leaves_its_delivery_pending_and_can_be_repeated(
    bus: Bus, delivery: Delivery, redis_client: redis.Redis
) -> None:
    following = FactsUnembedded.after(delivery.event, by="toy", at=delivery.event.time)
    # That a stream has no id left to give is seen by nobody before it is written to.
    redis_client.xadd(FOLLOWING, {"last": "of all"}, id=f"{2**64 - 1}-{2**64 - 1}")

    with pytest.raises(Fatal, match="exhausted"):
        bus.commit(delivery, Effects(events=(following,)))

    assert bus.open(delivery.ref) == delivery
    redis_client.delete(FOLLOWING)
    assert bus.commit(delivery, Effects(events=(following,))) == Committed()
    assert redis_client.xlen(FOLLOWING) == 1


@pytest.mark.parametrize("key", [KEYS.unrefined, FOLLOWING], ids=["store", "stream"])
def test_of_effects_with_a_key_in_their_way_none_is_written(
    bus: Bus, delivery: Delivery, redis_client: redis.Redis, key: str
) -> None:
    decision = Decision(description="use Redis", at=delivery.event.time)
    kept = SaveDecision(scope=HOME, episode_id=SOME, event_id=delivery.event.id, decision=decision)
    noted = RecordResummaryAttempt(scope=HOME, episode_id=SOME, by="a model")
    following = FactsUnembedded.after(delivery.event, by="toy", at=delivery.event.time)
    redis_client.set(key, "in the way")

    with pytest.raises(InTheWay, match="WRONGTYPE"):
        bus.commit(delivery, Effects(writes=(kept, noted), events=(following,)))

    assert not redis_client.exists(KEYS.decisions(HOME, SOME))
    assert bus.open(delivery.ref) == delivery


def test_an_event_that_could_not_be_published_can_be_published_later(
    bus: Bus, redis_client: redis.Redis, ended: Any
) -> None:
    stream = BusKeys("t").stream(SessionEnded.type, Priority.LIVE)
    redis_client.set(stream, "in the way")
    with pytest.raises(InTheWay, match="WRONGTYPE"):
        bus.publish(ended())

    redis_client.delete(stream)

    assert [receipt.fresh for receipt in bus.publish(ended())] == [True]
    assert len(bus.receive(TOY, priority=Priority.LIVE, limit=9, lease=60)) == 1


@pytest.mark.parametrize("command", ["xadd", "xack", "hset", "hincrby"])
def test_what_a_user_may_not_write_any_more_is_left_undone_as_a_whole_and_done_once_he_may(
    bus: Bus, delivery: Delivery, redis_client: redis.Redis, command: str
) -> None:
    decision = Decision(description="use Redis", at=delivery.event.time)
    kept = SaveDecision(scope=HOME, episode_id=SOME, event_id=delivery.event.id, decision=decision)
    following = FactsUnembedded.after(delivery.event, by="toy", at=delivery.event.time)
    effects = Effects(writes=(kept,), events=(following,))

    redis_client.execute_command("ACL", "SETUSER", "default", f"-{command}")
    try:
        with pytest.raises(NotAllowed):
            bus.commit(delivery, effects)
    finally:
        redis_client.execute_command("ACL", "SETUSER", "default", "+@all")

    assert not redis_client.exists(KEYS.decisions(HOME, SOME), FOLLOWING)
    assert bus.open(delivery.ref) == delivery
    assert bus.commit(delivery, effects) == Committed()
