"""What was published durably is there after a power cut, with all that travels beside it."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from builders.waiting import wait_until
from typing_extensions import override  # typing has it from Python 3.12 on

from nous.app.container import Container, build
from nous.app.services import producer_of
from nous.bus.base import Priority
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.domain.errors import Unavailable
from nous.domain.events import SessionEvent
from nous.redis_server import embedded
from nous.redis_server.client import connect
from nous.services.session_intake import SessionMetadata
from nous.settings.model import PublishSettings, Settings

TEXT = "User: Please remember that I live in Berlin.\n\nAssistant: I will remember that.\n" * 20

Cut = Callable[[int], None]


@pytest.fixture
def container(directory: Path) -> Container:
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


def published(container: Container) -> list[SessionEvent]:
    """The sessions in the stream."""
    found = container.bus.receive(
        container.subscription("episode-summarizer"), priority=Priority.LIVE, limit=9, lease=60
    )
    return [each.event for each in found if isinstance(each.event, SessionEvent)]


def test_what_was_confirmed_is_there_after_a_power_cut_with_its_upload(
    container: Container, directory: Path, lose_power: Cut, tmp_path: Path
) -> None:
    session = tmp_path / "s.txt"
    session.write_text(TEXT)

    [handed_over] = producer_of(container).publish(session, SessionMetadata(), upload=True, durable=True)
    lose_power(written(directory))

    [event] = published(container)
    assert event == handed_over.event
    assert (event.dataref or "").startswith("redis:")
    assert container.context.transcripts.read(event).digest == event.digest


def test_an_upload_that_the_server_lost_before_its_event_came_is_not_confirmed(
    container: Container, directory: Path, lose_power: Cut
) -> None:
    before = written(directory)
    event = container.session_intake.of_content(TEXT, SessionMetadata())
    lose_power(before)

    for durable in (True, False):
        with pytest.raises(Unavailable, match="is not on the server any more: publish it again"):
            container.bus.publish(event, durable=durable)
    assert published(container) == []

    [again] = producer_of(container).publish([{"role": "user", "content": TEXT}], SessionMetadata(), durable=True)
    lose_power(written(directory))
    assert [each.id for each in published(container)] == [again.event.id]


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
