"""What a server has to be, judged from its INFO."""

from typing import Any

import pytest
import redis
from redis.exceptions import NoPermissionError
from structlog.testing import capture_logs

from nous.domain.errors import Misconfigured, Unavailable
from nous.redis_server.client import refuse_unsafe

SAFE = {
    "redis_version": "7.2.4",
    "redis_mode": "standalone",
    "role": "master",
    "maxmemory_policy": "noeviction",
    "aof_enabled": 1,
}


class Told(redis.Redis):
    """A server that answers INFO with what it was told, or fails."""

    def __init__(self, answer: dict[str, Any] | redis.RedisError) -> None:
        super().__init__()
        self._answer = answer

    def info(self, *_: Any, **__: Any) -> Any:
        if isinstance(self._answer, redis.RedisError):
            raise self._answer
        return self._answer


def test_the_override_turns_the_refusal_into_a_warning() -> None:
    with capture_logs() as logs:
        refuse_unsafe(Told(SAFE | {"maxmemory_policy": "volatile-ttl", "aof_enabled": 0}), allow=True)

    assert [line["log_level"] for line in logs] == ["warning", "warning"]


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ({"redis_version": "6.2.14"}, "version 6.2.14"),
        ({"redis_mode": "cluster"}, "cluster mode"),
        ({"redis_mode": None, "server_mode": "cluster"}, "cluster mode"),
        ({"redis_mode": "sentinel"}, "sentinel mode"),
        ({"role": "slave"}, "replica"),
    ],
)
def test_a_server_that_cannot_work_is_refused_whatever_is_allowed(fault: dict[str, Any], complaint: str) -> None:
    with pytest.raises(Misconfigured, match=complaint):
        refuse_unsafe(Told(SAFE | fault), allow=True)


def test_a_server_that_denies_info_is_refused_and_one_that_is_away_is_unavailable() -> None:
    with pytest.raises(Misconfigured, match="INFO"):
        refuse_unsafe(Told(NoPermissionError("no permissions")))
    with pytest.raises(Unavailable):
        refuse_unsafe(Told(redis.ConnectionError("gone")))
