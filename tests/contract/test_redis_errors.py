"""What is said of a server's errors: its own reason, and nothing of the command that met it."""

from collections.abc import Callable

import pytest
import redis
from builders.full_disk import unwritable
from redis import exceptions

from nous.domain.errors import Fatal, Retryable, Unavailable
from nous.redis_support.errors import translated


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
