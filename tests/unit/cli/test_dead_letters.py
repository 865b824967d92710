"""What an operator sees of an event: where it comes from, and nothing that anybody has said."""

from datetime import UTC, datetime

import orjson
import pytest

from nous.cli.dead_letters import origin

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_credentials_are_masked_where_people_put_them() -> None:
    raw = orjson.dumps(
        {"source": "password=hunter22", "data": {"session_id": "s", "transcript": "a", "scope": "a/b/c"}}
    )

    found = origin(raw, "session_ended", at=NOW)

    assert (found["source"], found["scope"], found["time"]) == ("password=[secret:password]", "a/b/c", str(NOW))
    assert "transcript" not in found


@pytest.mark.parametrize("raw", [b"tell my boss", b"[1]", 20_000_000])
def test_what_is_no_event_or_too_large_comes_from_nowhere(raw: bytes | int) -> None:
    assert origin(raw, "session_ended", at=NOW) == {}
