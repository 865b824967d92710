"""What an operator sees of an event: its envelope, and nothing that anybody has said."""

import orjson
import pytest

from nous.cli.dead_letters import envelope
from nous.domain.event_codec import LARGEST


def test_credentials_are_masked_where_people_put_them() -> None:
    raw = orjson.dumps({"id": "password=hunter22", "data": {"sk-ant-abcdefghijklmnop1234": 1, "scope": "a/b/c"}})

    assert envelope(raw) == {"id": "[hidden]", "scope": "a/b/c"}


@pytest.mark.parametrize(
    "raw", [b"tell my boss", b"[1]", LARGEST + 1, b'{"type": "' + b"x" * LARGEST + b'"}'], ids=["text", "list", "", ""]
)
def test_what_is_no_event_or_too_large_has_no_envelope(raw: bytes | int) -> None:
    assert envelope(raw) == {}
