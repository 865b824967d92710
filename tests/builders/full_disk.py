"""A server that cannot write, as when its disk is full, and can be read. What is done here works for root too."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import redis

from builders.waiting import wait_until


@contextmanager
def unwritable(client: redis.Redis) -> Generator[None]:
    """Have the server of *client* refuse to write, with MISCONF, until the block ends.

    It is told to keep a snapshot where a directory stands in the way. Its log of writes has what it accepted.
    """
    home: Any = client.config_get("dir")
    in_the_way = Path(home["dir"]) / "dump.rdb"
    in_the_way.mkdir()
    try:
        client.config_set("save", "3600 100000")
        client.bgsave()
        # An earlier one that failed is still held against it, so it is not enough that it refuses.
        wait_until(lambda: _has_no_snapshot_to_make(client) and _says_it_cannot_write(client), "the snapshot to fail")
        yield
    finally:
        client.config_set("save", "")
        in_the_way.rmdir()


@contextmanager
def losing(client: redis.Redis) -> Generator[None]:
    """Have the server of *client*, a Linux machine's, accept one more change that it cannot write down, then none.

    The file that comes next in its log of writes is one that is always full. The log begins anew when the block ends.
    """
    home: Any = client.config_get("dir")
    folder = Path(home["dir"]) / "appendonlydir"
    [current] = folder.glob("*.incr.aof")
    name, number, *rest = current.name.rsplit(".", 3)
    (folder / ".".join([name, str(int(number) + 1), *rest])).symlink_to("/dev/full")
    _begin_the_log_anew(client)
    try:
        yield
    finally:
        with suppress(redis.ConnectionError):  # one that was about to stop may be gone by now
            _begin_the_log_anew(client)


def _begin_the_log_anew(client: redis.Redis) -> None:
    client.bgrewriteaof()
    wait_until(lambda: _is_settled(client), "the log of writes to begin anew")


def _is_settled(client: redis.Redis) -> bool:
    info: Any = client.info("persistence")
    is_rewriting = info["aof_rewrite_in_progress"] or info["aof_rewrite_scheduled"]
    return not is_rewriting and info["aof_last_write_status"] == "ok"


def _has_no_snapshot_to_make(client: redis.Redis) -> bool:
    info: Any = client.info("persistence")
    return not info["rdb_bgsave_in_progress"]


def _says_it_cannot_write(client: redis.Redis) -> bool:
    try:
        client.ping()
    except redis.ResponseError as error:
        return "MISCONF" in str(error)
    return False
