"""`nous down`, on a real server."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from nous.cli import main
from nous.redis_server.client import connect
from nous.settings.model import Settings


def test_who_stops_the_server_is_told_that_workers_wait_for_it(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOUS_DATA_DIR", str(directory))
    connect(Settings(data_dir=directory)).ping()

    stopped, again = (CliRunner().invoke(main, ["down"]).stdout for _ in range(2))

    assert stopped.startswith(f"stopped the server of {directory}; workers that still run wait")
    assert again == f"no server was running in {directory}\n"
