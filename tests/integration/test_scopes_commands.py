"""Scopes on the command line: which directory has which."""

import json
from pathlib import Path

import pytest
from builders.command_line import Nous
from builders.crew import is_at_rest, working
from builders.waiting import wait_until

from nous.app.container import Container
from nous.domain.scope import Scope

PORTS = "User: Which port does billing use?\n\nAssistant: Service billing listens on port 9017.\n"
OLD = Scope(project="old")


def test_scopes_are_listed_with_their_directories(
    nous: Nous, container: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOUS_SCOPE", "")
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (container.settings.data_dir / "context").mkdir()
    (shop / ".nous.toml").write_text('scope = "old"')
    monkeypatch.chdir(shop)
    (shop / "ports.txt").write_text(PORTS)
    nous("publish", "ports.txt")
    with working(container):
        wait_until(lambda: is_at_rest(container), "the session to be processed", pause=0.1)

    listed = nous("scopes")

    [row] = [line for line in listed.stdout.splitlines() if "old" in line]
    assert row.split()[-2:] == [str(OLD), str(shop)]
    assert listed.stderr == f"nous: this directory has the scope {OLD}, by .nous.toml\n"
    rows = {row["scope"]: row["directories"] for row in json.loads(nous("scopes", "--json").stdout)}
    assert rows == {str(OLD): [str(shop)]}
