"""Which scripts a process runs: those that stood beside it when it began."""

from pathlib import Path

import pytest
import redis

from nous.redis_support.scripts import Scripts


def test_a_script_is_not_exchanged_beneath_a_process_that_runs(
    client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = tmp_path / "a_release" / "scripts"
    scripts.mkdir(parents=True)
    (scripts.parent / "__init__.py").touch()
    (scripts / "prelude.lua").write_text("local RELEASE = 1\n")
    (scripts / "tell.lua").write_text("return RELEASE\n")
    monkeypatch.syspath_prepend(tmp_path)
    run = Scripts(client, package="a_release")

    (scripts / "prelude.lua").write_text("local RELEASE = 2\n")
    (scripts / "tell.lua").write_text("return RELEASE + 10\n")

    assert run("tell", (), ()) == 1
