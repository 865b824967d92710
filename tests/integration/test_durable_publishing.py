"""What was published durably is there after a power cut, with all that travels beside it."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from builders.command_line import Nous
from builders.full_disk import losing, unwritable
from builders.waiting import wait_until
from typing_extensions import override  # typing has it from Python 3.12 on

from nous.app.container import Container, build
from nous.app.services import producer_of
from nous.bus.base import Priority
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.cli.framework import UNAVAILABLE
from nous.domain.errors import Unavailable
from nous.domain.events import SessionEvent
from nous.redis_server import embedded
from nous.redis_server.client import connect
from nous.services.session_intake import SessionMetadata
from nous.settings.model import PublishSettings, Settings

TEXT = "User: Please remember that I live in Berlin.\n\nAssistant: I will remember that.\n" * 20

Cut = Callable[[int], None]


@pytest.fixture
def sparing(directory: Path) -> Container:
    """A world in which nearly every session travels beside its event."""
    return build(Settings(data_dir=directory, embedder="hashed", publish=PublishSettings(inline_limit=100)))


def log_of(directory: Path) -> Path:
    """The file that the server appends its writes to."""
    return max((directory / "redis" / "appendonlydir").glob("*.incr.aof"))


def written(directory: Path) -> int:
    """Bytes of the log as the disk has them now."""
    return log_of(directory).stat().st_size


@pytest.fixture
def lose_power(directory: Path) -> Cut:
    """Kills the server, leaves so many bytes of its log, and brings it back."""

    def cut(length: int) -> None:
        pid: Any = connect(Settings(data_dir=directory)).info("server")["process_id"]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: embedded.status(directory).state == "stopped", "the server's end")
        os.truncate(log_of(directory), length)
        embedded.ensure(directory)

    return cut


def published(sparing: Container) -> list[SessionEvent]:
    """The sessions in the stream."""
    found = sparing.bus.receive(sparing.subscription("episode-summarizer"), priority=Priority.LIVE, limit=9, lease=60)
    return [each.event for each in found if isinstance(each.event, SessionEvent)]


def test_what_was_confirmed_is_there_after_a_power_cut_with_its_upload(
    sparing: Container, directory: Path, lose_power: Cut, tmp_path: Path
) -> None:
    session = tmp_path / "s.txt"
    session.write_text(TEXT)

    [handed_over] = producer_of(sparing).publish(session, SessionMetadata(), upload=True, durable=True)
    lose_power(written(directory))

    [event] = published(sparing)
    assert event == handed_over.event
    assert (event.dataref or "").startswith("redis:")
    assert sparing.context.transcripts.read(event).digest == event.digest


def test_an_upload_that_the_server_lost_before_its_event_came_is_not_confirmed(
    sparing: Container, directory: Path, lose_power: Cut
) -> None:
    before = written(directory)
    event = sparing.session_intake.of_content(TEXT, SessionMetadata())
    lose_power(before)

    for durable in (True, False):
        with pytest.raises(Unavailable, match="is not on the server any more: publish it again"):
            sparing.bus.publish(event, durable=durable)
    assert published(sparing) == []

    [again] = producer_of(sparing).publish([{"role": "user", "content": TEXT}], SessionMetadata(), durable=True)
    lose_power(written(directory))
    assert [each.id for each in published(sparing)] == [again.event.id]


class Amending(redis.Redis):
    """A client whose marker is amended, as an erasure does, between publishing and waiting for the disk."""

    @override
    def pipeline(self, *given: Any, **named: Any) -> Any:
        [marker] = self.keys("nous:marker:*")
        self.set(marker, "live/9-9", ex=60)
        return super().pipeline(*given, **named)


def test_waiting_for_the_disk_leaves_a_marker_as_somebody_else_has_amended_it(directory: Path, ended: Any) -> None:
    with Amending.from_url(embedded.ensure(directory), protocol=2) as client:
        RedisBus(client, plan_of=lambda _: CommitPlan()).publish(ended(), durable=True)

        [marker] = client.keys("nous:marker:*")
        assert client.get(marker) == b"live/9-9"


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
