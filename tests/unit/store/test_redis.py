"""What the stores in Redis say when Redis does not answer, or does not hold what they wrote."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import fakeredis
import numpy as np
import pytest
import redis
from builders.fact_rows import learned
from redis.backoff import NoBackoff
from redis.retry import Retry

from nous.domain.effects import AppendFacts
from nous.domain.errors import Misconfigured, Retryable, Unavailable
from nous.domain.fact import LogVersion
from nous.domain.scope import Scope
from nous.store.keys import StoreKeys
from nous.store.redis.episodes import RedisEpisodes
from nous.store.redis.fact_log import RedisFactLog
from nous.store.redis.plans import plan_for
from nous.store.redis.transcripts import RedisUploads

KEYS = StoreKeys()
HERE = Scope("tenant:1", "agent %", "project")


class InterruptedRedis(fakeredis.FakeRedis):
    """A client that lets something happen between the first and the second question."""

    interruption: Callable[[], None] | None = None
    questions = 0

    def pipeline(self, *arguments: Any, **options: Any) -> Any:
        self.questions += 1
        if self.questions == 2 and self.interruption:
            self.interruption()
        return super().pipeline(*arguments, **options)


@pytest.fixture
def client() -> InterruptedRedis:
    return InterruptedRedis(server=fakeredis.FakeServer(), protocol=2)


@pytest.fixture
def facts(client: redis.Redis) -> RedisFactLog:
    return RedisFactLog(client, KEYS)


fact = partial(learned, scope=HERE)


def append(client: redis.Redis, *texts: str, expected: LogVersion | None = None) -> None:
    rows = tuple(fact(text) for text in texts)
    vectors = {row.fact.id: np.ones(3, dtype=np.float32) for row in rows}
    write = AppendFacts(scope=HERE, expected=expected or LogVersion(), rows=rows, vectors=vectors)
    for command in plan_for(write, KEYS).commands:
        client.execute_command(command.command, command.key, *command.arguments)


def test_rows_of_a_commit_that_broke_off_are_not_seen_and_give_way(
    client: InterruptedRedis, facts: RedisFactLog
) -> None:
    append(client, "a")
    seen = facts.read(HERE).version
    client.rpush(KEYS.fact_rows(HERE), "half a commit")

    assert facts.read(HERE).rows == (fact("a"),)
    assert facts.read(HERE, after=seen).rows == ()
    append(client, "b", expected=seen)
    assert facts.read(HERE).rows == (fact("a"), fact("b"))


@pytest.mark.parametrize("damage", [["RPOP"], ["LSET", "-1", b"chain linked - {}"], ["LSET", "-1", b"junk"], ["DEL"]])
def test_rows_that_do_not_lead_to_the_version_are_damage(
    client: InterruptedRedis, facts: RedisFactLog, damage: list[str]
) -> None:
    append(client, "a", "b")
    command, *arguments = damage
    client.execute_command(command, KEYS.fact_rows(HERE), *arguments)

    with pytest.raises(Misconfigured, match=r"tenant:1/agent %/project is damaged|not one of its rows"):
        facts.read(HERE)


def test_a_vector_of_another_length_than_its_row_says_is_damage(client: InterruptedRedis, facts: RedisFactLog) -> None:
    append(client, "a", "b")
    client.set(KEYS.fact_vectors(HERE, "m", dim=3, block=0), bytes(4 * 5))

    with pytest.raises(Misconfigured, match=r"vector 1 of m has 8 bytes .* 3 numbers"):
        facts.read(HERE)


def test_a_log_rewritten_while_it_is_read_is_read_again_later(client: InterruptedRedis, facts: RedisFactLog) -> None:
    append(client, "a")
    client.interruption = lambda: append(client, "b")

    with pytest.raises(Retryable, match="rewritten"):
        facts.read(HERE)
    assert facts.read(HERE).rows == (fact("b"),)


def test_a_log_that_grows_while_it_is_read_is_read_as_it_was(client: InterruptedRedis, facts: RedisFactLog) -> None:
    append(client, "a")
    version = facts.read(HERE).version
    client.questions = 0
    client.interruption = lambda: append(client, "b", expected=version)

    assert facts.read(HERE).rows == (fact("a"),)


def test_a_server_that_does_not_answer_may_answer_later(tmp_path: Path) -> None:
    client = redis.Redis(unix_socket_path=str(tmp_path / "none"), retry=Retry(NoBackoff(), 0))
    questions: list[Callable[[], object]] = [
        lambda: RedisFactLog(client, KEYS).read(HERE),
        lambda: RedisEpisodes(client, KEYS).recent(HERE),
        lambda: RedisUploads(client).fetch("k"),
        lambda: RedisUploads(client).put("k", b""),
    ]

    for question in questions:
        with pytest.raises(Unavailable):
            question()
