"""A real server, asked whether it keeps what it is given."""

from pathlib import Path

import pytest

from nous.app.container import build
from nous.bus.redis.streams import wait_for_disk
from nous.domain.errors import Misconfigured, Unavailable
from nous.redis_server.client import connect, refuse_unsafe
from nous.settings import Settings


def test_the_embedded_server_is_a_safe_one(directory: Path) -> None:
    refuse_unsafe(connect(Settings(data_dir=directory)))


@pytest.mark.parametrize(
    ("setting", "value", "complaint"),
    [("maxmemory-policy", "allkeys-lru", "maxmemory-policy is allkeys-lru"), ("appendonly", "no", "append-only")],
)
def test_a_real_server_that_may_lose_data_is_refused(setting: str, value: str, complaint: str, directory: Path) -> None:
    client = connect(Settings(data_dir=directory))
    client.config_set(setting, value)

    with pytest.raises(Misconfigured, match=complaint):
        refuse_unsafe(client)
    refuse_unsafe(client, allow=True)


def test_no_world_is_built_on_a_server_that_may_lose_data(directory: Path) -> None:
    settings = Settings(data_dir=directory, embedder="hashed")
    connect(settings).config_set("maxmemory-policy", "allkeys-lru")

    with pytest.raises(Misconfigured, match="this server is refused"):
        build(settings)


def test_the_embedded_server_brings_what_it_takes_to_its_disk_by_itself(directory: Path) -> None:
    client = connect(Settings(data_dir=directory))
    client.set("taken", "1")

    wait_for_disk(client, ["taken"], ttl=60)
    with pytest.raises(Unavailable, match="has lost what it had taken"):
        wait_for_disk(client, ["taken", "lost"], ttl=60)
