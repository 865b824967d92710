"""Decisions that wait to be kept are found, however large what stands around them is."""

from collections.abc import Iterator
from typing import Any

import fakeredis
import orjson
import pytest
from structlog.testing import capture_logs
from typing_extensions import override  # typing has it from Python 3.12 on

from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.domain.episode import episode_id
from nous.domain.event_codec import LARGEST
from nous.domain.events import DecisionRecorded
from nous.domain.scope import Scope
from nous.store.keys import StoreKeys
from nous.store.redis import decisions
from nous.store.redis.decisions import RedisDecisions

KEYS = BusKeys("t")
STREAM = KEYS.stream(DecisionRecorded.type, Priority.LIVE)
MEGABYTE = 1 << 20


class Measured(fakeredis.FakeRedis):
    """Notes how many bytes each reply has that holds entries."""

    replies: list[int]

    @override
    def xrange(self, *given: Any, **named: Any) -> Any:
        found: Any = super().xrange(*given, **named)
        self.replies.append(sum(len(value) for _, fields in found for value in fields.values()))
        return found


@pytest.fixture
def client() -> Iterator[Measured]:
    Measured.replies = []
    with Measured(server=fakeredis.FakeServer(), protocol=2) as client:
        yield client


def decided(description: str) -> bytes:
    data = {"session_id": "s1", "description": description}
    return orjson.dumps({"data": data})


def found(client: Measured) -> list[str]:
    source = RedisDecisions(client, StoreKeys("t"), bus_keys=KEYS, group="decision-keeper")
    return [each.description for each in source.get_episode_decisions(episode_id(Scope(), "s1"), scope=Scope())]


def test_a_decision_behind_what_is_large_is_found_without_reading_all_of_it_at_once(client: Measured) -> None:
    for _ in range(40):
        client.xadd(STREAM, {"event": b"x" * MEGABYTE})
    client.xadd(STREAM, {"event": decided("we take Redis")})

    assert found(client) == ["we take Redis"]
    assert max(client.replies) <= LARGEST


def test_behind_too_many_that_wait_the_others_are_not_seen_and_that_is_said(
    client: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "MOST_WAITING", 3)
    for number in range(3):
        client.xadd(STREAM, {"event": decided(f"decision {number}")})
    with capture_logs() as said:
        assert len(found(client)) == 3
        assert said == []
        client.xadd(STREAM, {"event": decided("one more")})
        assert len(found(client)) == 3

    assert [each["event"] for each in said] == ["decisions.backlog_truncated"]
