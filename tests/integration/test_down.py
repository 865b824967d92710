"""`nous down`, on a real server."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from rq.worker import Worker

from nous.cli import main
from nous.redis_server.client import connect_rq
from nous.settings.model import Settings


def test_who_stops_the_server_is_told_who_still_works_with_it(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOUS_DATA_DIR", str(directory))
    Worker(["decision-keeper"], connection=connect_rq(Settings(data_dir=directory))).register_birth()

    result = CliRunner().invoke(main, ["down"])

    assert f"stopped the server of {directory}\n" in result.stdout
    assert "still running, and waiting for a server: 1 worker;" in result.stdout
