"""In which order a script goes, since nothing of it is undone: what breaks off half-way can be done again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import redis
from builders.full_disk import unwritable
from builders.stores import KEYS, WholeStore
from redis import exceptions

from nous.bus.base import Bus, Committed, Conflict, Delivery, Priority, Subscription
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects, ExpectEpisode, RecordResummaryAttempt, SaveDecision
from nous.domain.episode import Decision
from nous.domain.errors import Fatal, InTheWay, NotAllowed, Retryable, Unavailable
from nous.domain.events import FactsUnembedded, SessionEnded
from nous.domain.scope import Scope
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts

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


def _alone(client: redis.Redis) -> None:
    client.set("secret", "word")


def _in_a_pipeline(client: redis.Redis) -> None:
    with client.pipeline() as pipe:
        pipe.set("secret", "word (or two) of pipeline caused error: none\n")
        pipe.execute()


def _in_a_pipeline_read(client: redis.Redis) -> None:
    with client.pipeline() as pipe:
        pipe.get("secret")
        pipe.execute()


def _in_a_script(client: redis.Redis) -> None:
    client.eval("return redis.call('set', KEYS[1], ARGV[1])", 1, "secret", "word")


@pytest.mark.parametrize("write", [_alone, _in_a_pipeline, _in_a_script])
def test_of_a_server_that_cannot_write_one_is_told_its_reason_and_what_to_do(
    write: Callable[[redis.Redis], None], redis_client: redis.Redis
) -> None:
    with unwritable(redis_client), pytest.raises(Unavailable) as raised, translated():
        write(redis_client)

    told = str(raised.value)
    assert told.startswith("Redis cannot write to its disk: ")
    assert "unable to persist" in told
    assert told.endswith("; it takes no change until there is room: make some there")
    assert not [word for word in ("MISCONF", "Command #", "SET", "secret", "word", "@") if word in told]


@pytest.mark.parametrize("write", [_alone, _in_a_pipeline, _in_a_script])
def test_a_server_whose_memory_is_full_may_take_it_later(
    write: Callable[[redis.Redis], None], redis_client: redis.Redis
) -> None:
    redis_client.config_set("maxmemory", 1)
    try:
        with pytest.raises(Retryable, match="give it memory"), translated():
            write(redis_client)
    finally:
        redis_client.config_set("maxmemory", 0)

    write(redis_client)


def test_a_command_that_is_refused_is_not_quoted(redis_client: redis.Redis) -> None:
    redis_client.lpush("secret", "word")

    with pytest.raises(Fatal) as raised, translated():
        _in_a_pipeline_read(redis_client)

    reason = "WRONGTYPE Operation against a key holding the wrong kind of value"
    assert str(raised.value) == f"Redis refused the command: {reason}"


def test_a_script_that_the_server_has_just_lost_can_be_sent_again(redis_client: redis.Redis) -> None:
    with pytest.raises(Unavailable, match="lost a script"), translated():
        redis_client.evalsha("0" * 40, 0)


@pytest.mark.parametrize(
    "error",
    [
        redis.ResponseError("NOREPLICAS Not enough good replicas to write."),
        redis.ResponseError("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."),
        redis.ResponseError("ERR Error running script: Script killed by user with SCRIPT KILL."),
        redis.ResponseError("UNBLOCKED force unblock from blocking operation, instance state changed"),
        exceptions.MasterDownError("Link with MASTER is down and replica-serve-stale-data is set to 'no'."),
        exceptions.ClusterDownError("CLUSTERDOWN The cluster is down"),
        exceptions.TryAgainError("TRYAGAIN Multiple keys request during rehashing of slot"),
    ],
    ids=lambda error: str(error).partition(" ")[0],
)
def test_a_server_that_is_busy_or_changes_its_part_may_take_it_later(error: redis.ResponseError) -> None:
    with pytest.raises(Unavailable), translated():
        raise error


def test_a_script_is_not_exchanged_beneath_a_process_that_runs(
    client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = tmp_path / "a_release" / "scripts"
    scripts.mkdir(parents=True)
    (scripts.parent / "__init__.py").touch()
    (scripts / "prelude.lua").write_text("local RELEASE = 1\n")
    (scripts / "tell.lua").write_text("return RELEASE\n")
    monkeypatch.syspath_prepend(tmp_path)
    run = Scripts(client, package="a_release")

    (scripts / "prelude.lua").write_text("local RELEASE = 2\n")
    (scripts / "tell.lua").write_text("return RELEASE + 10\n")

    assert run("tell", (), ()) == 1
