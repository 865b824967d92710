"""What a process remembers of the logs it reads."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from builders.contexts import context_over
from builders.knowing import source
from builders.stores import WholeStore

from nous.domain.episode import CandidateFact
from nous.domain.errors import Misconfigured
from nous.domain.fact import LogVersion
from nous.domain.scope import Scope
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.verdict import Policy
from nous.pipeline.fact_learner import FactLearner
from nous.retrieval.query import asked
from nous.retrieval.search import Corpus, search
from nous.store.base import LogSlice
from nous.store.fact_cache import FactCache


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
