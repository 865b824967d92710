"""Facts that were learned without a vector, compared after all."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

import pytest

from nous.domain.episode import Category
from nous.domain.events import NAMESPACE
from nous.domain.fact import Embedded, Fact, Learned, Linked, Row, Source
from nous.domain.scope import Scope
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.decision import LearnDecisions
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.learn import embed_late
from nous.knowledge.verdict import Policy

AT = datetime(2026, 1, 1, tzinfo=UTC)
EMBEDDER = HashingEmbedder()


def learned(text: str, *, embedder: str | None = None, subject: str = "", at: datetime = AT) -> Learned:
    """*text* as a session of its own, that ended at `AT`, taught it."""
    episode = uuid5(NAMESPACE, text)
    fact = Fact(
        id=uuid5(NAMESPACE, f"fact {text}"),
        scope=Scope(),
        text=text,
        category=Category.TECHNICAL,
        subject=subject,
        confidence=0.8,
        source=Source(episode_id=episode, event_id=episode, session_id=text, turns=(), said_at=AT),
        learned_at=at,
    )
    return Learned(fact=fact, reason="", embedded_by=embedder)


def knowing(*rows: Row) -> FactIndex:
    knowledge = FactIndex(embedder_id=EMBEDDER.id, dim=EMBEDDER.dim)
    texts = {row.fact.id: row.fact.text for row in rows if isinstance(row, Learned) and row.embedded_by}
    vectors: dict[UUID, object] = {fact_id: EMBEDDER.embed([text])[0] for fact_id, text in texts.items()}
    knowledge.extend(rows, vectors)  # type: ignore[arg-type]  # float32 arrays, built one by one
    return knowledge


def mended(knowledge: FactIndex) -> LearnDecisions:
    waiting = list(knowledge.without_vector())
    vectors = EMBEDDER.embed([known.fact.text for known in waiting])
    mending = embed_late(list(zip(waiting, vectors, strict=True)), knowledge=knowledge, policy=Policy(near=0.4), at=AT)
    knowledge.extend(mending.rows, mending.vectors)
    return mending


def test_a_fact_that_says_what_another_says_goes_into_it_with_its_source() -> None:
    known, waiting = learned("The API is on port 8080", embedder=EMBEDDER.id), learned("The API's on port 8080")
    knowledge = knowing(known, waiting)

    [each] = mended(knowledge).decisions

    assert each.verdict.name == "known"
    assert [fact.fact.text for fact in knowledge.current()] == [known.fact.text]
    assert knowledge[known.fact.id].times_confirmed == 2
    assert knowledge[known.fact.id].said_as == (waiting.fact.text,)
    assert not list(knowledge.without_vector())


def test_facts_that_wait_together_are_compared_with_each_other() -> None:
    knowledge = knowing(learned("The API is on port 8080"), learned("The API's on port 8080"), learned("Tim likes tea"))

    verdicts = [each.verdict.name for each in mended(knowledge).decisions]

    assert verdicts == ["new", "known", "new"]
    assert len(list(knowledge.current())) == 2


def test_what_differs_is_kept_and_linked_once() -> None:
    first, second = learned("The API is on port 8080", embedder=EMBEDDER.id), learned("The API is on port 8081")
    link = Linked(fact_id=second.fact.id, other=first.fact.id, reason="numbers differ", at=AT)

    fresh = mended(knowing(first, second)).rows
    linked_before = mended(knowing(first, second, link)).rows

    assert [type(row) for row in fresh] == [Embedded, Linked]
    assert [type(row) for row in linked_before] == [Embedded]


@pytest.mark.parametrize("embedders", [(None, None), (None, EMBEDDER.id), (EMBEDDER.id, None)])
def test_of_two_that_were_said_at_once_the_one_that_was_learned_later_is_current(
    embedders: tuple[str | None, str | None],
) -> None:
    first, second = (
        learned(f"The API is on port {8080 + at}", embedder=embedder, subject="API", at=AT + timedelta(hours=at))
        for at, embedder in enumerate(embedders)
    )
    knowledge = knowing(first, second)

    mended(knowledge)

    assert [known.fact for known in knowledge.current()] == [second.fact]


def test_vectors_of_another_embedder_are_no_vectors() -> None:
    knowledge = knowing(learned("Tim likes tea", embedder="another"))

    assert [known.fact.text for known in knowledge.without_vector()] == ["Tim likes tea"]
    mended(knowledge)
    assert not list(knowledge.without_vector())
