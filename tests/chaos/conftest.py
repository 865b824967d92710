"""What fault tests run on, and the table that their drills end in."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from chaos.drill.crew import Nursery
from chaos.drill.report import Outcome, table

from nous.redis_server import embedded

_OUTCOMES = pytest.StashKey[list[Outcome]]()


@pytest.fixture
def directory() -> Iterator[Path]:
    """A data directory whose server is gone, with the directory, when the test ends."""
    with tempfile.TemporaryDirectory(prefix="nous-chaos-") as name:
        path = Path(name)
        try:
            yield path
        finally:
            embedded.stop(path)


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Where worker processes come from."""
    with Nursery() as nursery:
        yield nursery


@pytest.fixture
def outcomes(request: pytest.FixtureRequest) -> list[Outcome]:
    """The drills of this run so far."""
    return request.config.stash.setdefault(_OUTCOMES, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if outcomes := config.stash.get(_OUTCOMES, []):
        terminalreporter.section(f"drills, seed {outcomes[0].size.seed}")
        terminalreporter.write_line(table(outcomes))
