"""`nous down`, on a real server."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nous.cli import main
from nous.jobs.rq.census import workers_seen
from nous.settings.model import Settings
from nous.wiring import build, fleet


def test_who_stops_the_server_is_told_who_still_works_with_it(
    directory: Path, monkeypatch: pytest.MonkeyPatch, wait_until: Any
) -> None:
    monkeypatch.setenv("NOUS_DATA_DIR", str(directory))
    world = build(Settings(data_dir=directory, embedder="hashed", log_level="error"))
    crew = fleet(world, ["decision-keeper"], open_quarantine=lambda _: None)
    crew.start()
    try:
        wait_until(lambda: workers_seen(world.rq_client), "the worker to be known")

        result = CliRunner().invoke(main, ["down"])
    finally:
        crew.stop()
        crew.wait()

    assert f"stopped the server of {directory}\n" in result.stdout
    assert "still running, and waiting for a server: 1 worker;" in result.stdout
