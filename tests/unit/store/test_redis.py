"""What the stores in Redis say when Redis does not answer, or does not hold what they wrote."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import fakeredis
import numpy as np
import pytest
import redis
from builders.contexts import context_over
from builders.fact_rows import learned
from builders.knowing import source
from builders.stores import WholeStore
from redis.backoff import NoBackoff
from redis.retry import Retry

from nous.domain.effects import AppendFacts
from nous.domain.episode import CandidateFact
from nous.domain.errors import Misconfigured, Retryable, Unavailable
from nous.domain.fact import LogVersion
from nous.domain.scope import Scope
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.verdict import Policy
from nous.pipeline.fact_learner import FactLearner
from nous.retrieval.query import asked
from nous.retrieval.search import Corpus, search
from nous.store.base import LogSlice
from nous.store.fact_cache import FactCache
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
        lambda: RedisUploads(client, KEYS).fetch("k"),
        lambda: RedisUploads(client, KEYS).put("k", b""),
    ]

    for question in questions:
        with pytest.raises(Unavailable):
            question()


class Watched(WholeStore):
    """A log that notes from where it was read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[int] = []

    def read(self, scope: Scope, *, after: LogVersion | None = None, **more: Any) -> LogSlice:
        self.reads.append(after.n if after else 0)
        return super().read(scope, after=after, **more)


def fact_learner(store: WholeStore, memory: FactCache | None = None, **more: Any) -> FactLearner:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    policy = Policy(near=0.3)
    context = context_over(store, fact_cache=memory or FactCache(), policy=policy, clock=lambda: now, **more)
    return FactLearner(context)


def learn(store: WholeStore, text: str, *, scope: Scope | None = None, episode: str = "e") -> None:
    lesson = fact_learner(store).ingest([CandidateFact(text=text)], scope=scope or Scope(), source=source(episode))
    assert lesson.append.rows
    assert store.apply([lesson.append]) is None


def texts(
    memory: FactCache, log: WholeStore, scope: Scope | None = None, embedder: HashingEmbedder | None = None
) -> list[str]:
    with memory.current(log, scope or Scope(), embedder or HashingEmbedder()) as knowledge:
        return [known.fact.text for known in knowledge.current()]


def found(memory: FactCache, store: WholeStore, query: str, scope: Scope | None = None) -> list[str]:
    with memory.scope_index(store, scope or Scope(), HashingEmbedder()) as index:
        return [hit.text for hit in search(asked(query, None), Corpus(scope_index=index))]


def test_only_what_was_added_is_read() -> None:
    store, memory = Watched(), FactCache()
    learn(store, "Tim likes tea")

    assert texts(memory, store) == ["Tim likes tea"]

    learn(store, "Redis is used")

    assert texts(memory, store) == ["Tim likes tea", "Redis is used"]
    assert texts(memory, store) == ["Tim likes tea", "Redis is used"]
    assert store.reads[-2:] == [1, 2]


def test_the_scopes_used_last_are_kept() -> None:
    store, memory = Watched(), FactCache(scopes=1)
    learn(store, "Tim likes tea")
    store.reads.clear()

    for scope in (Scope(), Scope(project="other"), Scope()):
        texts(memory, store, scope)

    assert store.reads == [0, 0, 0]


def test_what_was_learned_since_is_found_and_a_log_that_begins_anew_is_searched_anew() -> None:
    store, other, memory = WholeStore(), WholeStore(), FactCache()
    learn(store, "Tim likes tea")
    assert found(memory, store, "tea") == ["Tim likes tea"]

    learn(store, "The rum is Ann's", episode="s2")
    assert found(memory, store, "rum") == ["The rum is Ann's"]
    assert found(memory, store, "rum", Scope(project="other")) == []

    learn(other, "The gin is Bo's")
    assert found(memory, other, "tea") == []
    assert found(memory, other, "gin") == ["The gin is Bo's"]


def test_vectors_of_another_dimension_are_refused_each_time() -> None:
    changed = HashingEmbedder(dim=64)
    changed.id = HashingEmbedder().id
    store, memory = WholeStore(), FactCache()
    learn(store, "Tim likes tea")

    for _ in range(2):
        with pytest.raises(Misconfigured, match="256 numbers"):
            texts(memory, store, embedder=changed)


def test_twenty_who_learn_one_thing_at_once_leave_one_fact_that_twenty_have_said() -> None:
    store, memory = WholeStore(), FactCache()

    def teach(number: int) -> None:
        while True:
            who = source(f"session {number}")
            lesson = fact_learner(store, memory).ingest(
                [CandidateFact(text="Tim likes tea")], scope=Scope(), source=who
            )
            if not lesson.append.rows or store.apply([lesson.append]) is None:
                return

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(teach, range(20)))

    with memory.current(store, Scope(), HashingEmbedder()) as knowledge:
        [known] = knowledge
    assert known.times_confirmed == 20
