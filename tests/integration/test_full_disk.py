"""A server whose disk is full: what reads goes on reading, and what writes is told why it cannot."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from builders.command_line import Nous
from builders.full_disk import losing, unwritable
from builders.waiting import wait_until

from nous.cli.framework import UNAVAILABLE
from nous.redis_server import embedded
from nous.redis_server.client import connect
from nous.settings.model import Settings

needs_a_full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has a file that is full")


@pytest.fixture
def client(directory: Path) -> redis.Redis:
    return connect(Settings(data_dir=directory))


@pytest.fixture
def full(client: redis.Redis) -> Iterator[None]:
    with unwritable(client):
        yield


@pytest.mark.parametrize(
    "command", ["facts", "status", "episodes", "search gift", "scopes", "context", "dead-letters list", "metrics"]
)
@pytest.mark.usefixtures("full")
def test_commands_that_read_do_so_when_the_disk_is_full(
    command: str, nous: Nous, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "PATIENCE", 0)

    result = nous(*command.split())

    assert result.exit_code == 0
    known = "nothing is known in default/default/default; `nous status` says what waits"
    here = "this directory has the scope default/default/default, by the setting scope"
    assert result.stderr in ("", f"nous: {known}\n", f"nous: {here}\n")


def test_the_status_says_that_nothing_goes_on_when_the_disk_is_full(nous: Nous, client: redis.Redis) -> None:
    with unwritable(client):
        full = nous("status").stdout
        assert "no worker is registered" in full
        assert "the server cannot write, so nothing goes on until it can: MISCONF" in full

    wait_until(lambda: "cannot write" not in nous("status").stdout, "the server to write again")
    assert "no worker runs: nous up" in nous("status").stdout
    assert json.loads(nous("status", "--json").stdout)["cannot_write"] is None


@needs_a_full_device
def test_a_server_is_not_stopped_while_its_disk_has_not_what_it_took_last(
    nous: Nous, directory: Path, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "MOMENT", 0)

    with losing(client):
        client.set("taken", "last")
        refused = nous("down")

        assert (refused.exit_code, refused.stdout) == (UNAVAILABLE, "")
        assert f"cannot write what it has taken last into {directory}/redis" in refused.stderr
        assert "make room there, then stop it again" in refused.stderr
        assert embedded.status(directory).state == "running"
        with pytest.raises(redis.ResponseError, match="MISCONF"):
            client.set("another", 1)
    client.set("another", 1)
    stopped = nous("down")

    assert (stopped.exit_code, stopped.stderr) == (0, "")
    assert embedded.status(directory).state == "stopped"
    assert connect(Settings(data_dir=directory)).mget("taken", "another") == [b"last", b"1"]


@needs_a_full_device
def test_what_the_disk_does_not_take_is_not_published_until_it_does(
    nous: Nous, tmp_path: Path, client: redis.Redis
) -> None:
    session = tmp_path / "session.txt"
    session.write_text("User: What is a gift?\n\nAssistant: Something that is given.\n")
    nous("publish", session, "--session", "first")

    with losing(client):
        refused = nous("publish", session, "--session", "last")
    once_more = nous("publish", session, "--session", "last")

    assert (refused.exit_code, refused.stdout) == (UNAVAILABLE, "")
    assert "Redis cannot write to its disk" in refused.stderr
    assert (once_more.exit_code, once_more.stderr.count("cannot write")) == (0, 0)
