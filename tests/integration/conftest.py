"""A data directory for tests that run the embedded server, and what is built on it."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from builders.command_line import Nous, command_line
from builders.town import Town, about_its_session, running

from nous.app.container import Container, build
from nous.redis_server import embedded
from nous.settings.model import Settings


@pytest.fixture
def directory() -> Iterator[Path]:
    """A data directory with a short path, whose server is gone when the test is over."""
    with TemporaryDirectory(prefix="nous-") as name:
        try:
            yield Path(name)
        finally:
            embedded.stop(Path(name))


@pytest.fixture
def container(directory: Path) -> Iterator[Container]:
    """The world of one process, with an embedder that goes by words."""
    found = build(Settings(data_dir=directory, embedder="hashed"))
    try:
        yield found
    finally:
        for client in (found.client, found.rq_client):
            client.connection_pool.disconnect()


@pytest.fixture
def town(directory: Path) -> Iterator[Town]:
    """Every worker and producer, and a model that tells what a session is about."""
    with running(directory, about_its_session) as town:
        yield town


@pytest.fixture
def nous(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Nous:
    return command_line(directory, monkeypatch)
