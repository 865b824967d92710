"""A real server, asked whether it keeps what it is given."""

from pathlib import Path

import pytest

from nous.errors import Misconfigured
from nous.server.check import refuse_unsafe
from nous.server.connect import connect
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
