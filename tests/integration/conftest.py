"""A data directory for tests that run the embedded server, and what is built on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders.command_line import Nous, command_line
from builders.crew import built, data_directory
from builders.town import Town, about_its_session, running

from nous.app.container import Container, default_container
from nous.settings.model import Settings


@pytest.fixture
def directory() -> Iterator[Path]:
    with data_directory() as path:
        yield path


@pytest.fixture
def container(directory: Path) -> Iterator[Container]:
    """The world of one process, with an embedder that goes by words."""
    with built(Settings(data_dir=directory, embedder="hashed")) as container:
        yield container


@pytest.fixture
def town(directory: Path) -> Iterator[Town]:
    """Every worker and producer, and a model that tells what a session is about."""
    with running(directory, about_its_session) as town:
        yield town


@pytest.fixture
def nous(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Nous:
    return command_line(directory, monkeypatch)


@pytest.fixture
def own_process(nous: Nous, monkeypatch: pytest.MonkeyPatch) -> Iterator[Nous]:
    """The functions of `nous`, as a program calls them that uses the test's data directory alone."""
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    default_container.cache_clear()
    yield nous
    if default_container.cache_info().currsize:
        default_container().close()
    default_container.cache_clear()


@pytest.fixture
def no_server(own_process: Nous, directory: Path, monkeypatch: pytest.MonkeyPatch) -> Nous:
    """The same, with a server that does not answer."""
    monkeypatch.setenv("NOUS_REDIS_URL", f"unix://{directory}/nothing.sock")
    return own_process
