"""What a process keeps to search by."""

from datetime import UTC, datetime

from builders.knowing import source

from nous.domain.episode import CandidateFact
from nous.domain.scope import Scope
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.verdict import Policy
from nous.pipeline.fact_learner import FactLearner
from nous.retrieval.corpus import Corpus, ScopeIndex
from nous.retrieval.query import asked
from nous.retrieval.search import search
from nous.store.fact_cache import FactCache
from nous.store.memory import MemoryStore

HASHED = HashingEmbedder()


class Notebook:
    """A store, a process' memory of it, and what it finds by words."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.memory = FactCache()

    def learn(self, *texts: str, scope: Scope | None = None, session: str = "s1") -> None:
        fact_learner = FactLearner(
            log=self.store,
            fact_cache=self.memory,
            embedder=HASHED,
            policy=Policy(near=0.3),
            clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        )
        candidates = [CandidateFact(text=text) for text in texts]
        lesson = fact_learner.ingest(candidates, scope=scope or Scope(), source=source(session))
        assert lesson.append.rows
        assert self.store.apply([lesson.append]) is None

    def scope_index(self, scope: Scope | None = None) -> ScopeIndex:
        with self.memory.scope_index(self.store, scope or Scope(), HASHED) as scope_index:
            return scope_index

    def find(self, query: str, scope: Scope | None = None) -> list[str]:
        with self.memory.scope_index(self.store, scope or Scope(), HASHED) as scope_index:
            return [hit.text for hit in search(asked(query, None), Corpus(scope_index=scope_index))]


def test_what_was_learned_since_is_found_on_the_same_shelf() -> None:
    notes = Notebook()
    notes.learn("Tim likes tea")
    assert notes.find("tea") == ["Tim likes tea"]
    scope_index = notes.scope_index()

    notes.learn("The rum is Ann's", session="s2")

    assert notes.find("rum") == ["The rum is Ann's"]
    assert notes.scope_index() is scope_index


def test_a_log_that_begins_anew_has_a_shelf_of_its_own() -> None:
    notes = Notebook()
    notes.learn("Tim likes tea")
    assert notes.find("tea") == ["Tim likes tea"]

    notes.store = MemoryStore()
    notes.learn("The rum is Ann's")

    assert notes.find("tea") == []
    assert notes.find("rum") == ["The rum is Ann's"]


def test_no_scope_finds_what_another_knows() -> None:
    notes = Notebook()
    mine, yours = Scope(project="mine"), Scope(project="yours")
    notes.learn("Tim likes tea", scope=mine)

    assert notes.find("tea", mine) == ["Tim likes tea"]
    assert notes.find("tea", yours) == []


def test_a_fact_that_several_sessions_said_is_beside_each_of_them() -> None:
    notes = Notebook()
    for session in ("s1", "s2"):
        notes.learn("Tim likes tea", session=session)
        scope_index = notes.scope_index()
        said = [fact_id for fact_id, _ in scope_index.said_in([source(session).episode_id])]
        assert said == [known.fact.id for known in scope_index.knowledge]
