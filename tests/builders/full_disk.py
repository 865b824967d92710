"""A server that cannot write, as when its disk is full, and can be read."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis

from builders.waiting import wait_until


@contextmanager
def unwritable(client: redis.Redis) -> Generator[None]:
    """Have the server of *client* refuse to write, with MISCONF, until the block ends.

    It is told to keep a snapshot where a directory stands in the way: that works for root too, and on any disk.
    """
    home: Any = client.config_get("dir")
    in_the_way = Path(home["dir"]) / "dump.rdb"
    in_the_way.mkdir()
    try:
        client.config_set("save", "3600 100000")
        client.bgsave()
        wait_until(lambda: _says_it_cannot_write(client), "the snapshot to fail")
        yield
    finally:
        client.config_set("save", "")
        in_the_way.rmdir()


def _says_it_cannot_write(client: redis.Redis) -> bool:
    try:
        client.ping()
    except redis.ResponseError as error:
        return "MISCONF" in str(error)
    return False
