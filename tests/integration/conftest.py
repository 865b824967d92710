"""A data directory for tests that run the embedded server."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from nous.server import embedded


@pytest.fixture
def directory() -> Iterator[Path]:
    """A data directory with a short path, whose server is gone when the test is over."""
    with TemporaryDirectory(prefix="nous-") as name:
        try:
            yield Path(name)
        finally:
            embedded.stop(Path(name))
