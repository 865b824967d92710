"""A server that runs a script of somebody for so long that it answers nobody else."""

from collections.abc import Generator
from contextlib import contextmanager
from threading import Thread

import pytest
import redis

from builders.waiting import wait_until


@contextmanager
def busy(client: redis.Redis) -> Generator[None]:
    """Have the server of *client* run a script that never ends, until the block does."""
    client.config_set("busy-reply-threshold", 1)
    script = Thread(target=_until_killed, args=(client,))
    script.start()
    try:
        wait_until(lambda: _is_busy(client), "the script to take long")
        yield
    finally:
        client.script_kill()
        script.join()
        client.config_set("busy-reply-threshold", 5000)


def _until_killed(client: redis.Redis) -> None:
    with pytest.raises(redis.ResponseError, match="killed"):
        client.eval("while true do end", 0)


def _is_busy(client: redis.Redis) -> bool:
    try:
        client.ping()
    except redis.ResponseError as error:
        return "BUSY" in str(error)
    return False
