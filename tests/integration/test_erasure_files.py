"""What was deleted is in no file of a server any more, or it is said that nobody could see to that."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from builders.waiting import wait_until

from nous.bus.redis.erasure import RedisBusErasure
from nous.redis_server import embedded
from nous.redis_server.data_dir import locate


@pytest.fixture
def server(directory: Path) -> Iterator[Any]:
    with redis.Redis.from_url(embedded.ensure(directory), socket_timeout=10) as client:
        yield client


def holds(directory: Path, text: bytes) -> bool:
    return any(text in path.read_bytes() for path in directory.rglob("*") if path.is_file())


def test_a_file_that_is_being_written_is_waited_for_and_written_once_more(directory: Path, server: Any) -> None:
    server.set("secret", "plantedwords")
    server.mset({f"more:{number}": "x" for number in range(200)})
    assert holds(directory, b"plantedwords")
    server.config_set("rdb-key-save-delay", 2000)
    server.bgrewriteaof()
    server.config_set("rdb-key-save-delay", 0)
    server.delete("secret")
    assert server.info("persistence")["aof_rewrite_in_progress"]

    assert RedisBusErasure(server).purge_files()

    assert not holds(directory, b"plantedwords")


def test_what_a_killed_server_was_writing_is_gone_when_it_is_back(directory: Path, server: Any) -> None:
    server.mset({f"key:{number}": "x" for number in range(200)})
    server.config_set("rdb-key-save-delay", 1_000_000)
    server.bgrewriteaof()
    killed: int = server.info("server")["process_id"]
    home = locate(directory).home
    wait_until(lambda: [*home.glob("temp-*.aof")], "the writing of a file")
    [writer] = Path(f"/proc/{killed}/task/{killed}/children").read_text().split()
    os.kill(killed, signal.SIGKILL)
    os.kill(int(writer), signal.SIGKILL)

    embedded.ensure(directory)

    assert server.dbsize() == 200
    assert [*home.glob("temp-*")] == []


def test_a_snapshot_that_somebody_had_taken_is_taken_anew_though_none_is_taken_by_itself(
    directory: Path, server: Any
) -> None:
    server.set("secret", "plantedwords")
    server.save()
    server.delete("secret")
    embedded.stop(directory)
    embedded.ensure(directory)

    assert RedisBusErasure(server).purge_files()

    assert not holds(directory, b"plantedwords")


@pytest.mark.parametrize("command", ["bgrewriteaof", "info", "config"])
def test_a_server_that_does_not_allow_it_is_told_of(server: Any, command: str) -> None:
    server.execute_command("ACL", "SETUSER", "default", f"-{command}")
    try:
        assert not RedisBusErasure(server).purge_files()
    finally:
        server.execute_command("ACL", "SETUSER", "default", "+@all")


def test_a_server_that_cannot_write_its_file_is_told_of(directory: Path, server: Any) -> None:
    for folder in directory.rglob("appendonlydir"):
        folder.rename(folder.with_name("elsewhere"))
        folder.touch()

    assert not RedisBusErasure(server).purge_files()
