"""Finding what is known."""

from datetime import UTC, datetime
from uuid import UUID, uuid5

import pytest

from nous.embed.hashed import Hashed
from nous.episode import CandidateFact, Episode, Outcome, Summary, Tier
from nous.events import NAMESPACE
from nous.fact import Source
from nous.learning.known import Knowledge
from nous.learning.learn import Occasion, learn
from nous.learning.policy import Policy
from nous.recall.search import Hit, Remembrance, search
from nous.recall.words import word_scores
from nous.scope import Scope

AT = datetime(2026, 1, 1, tzinfo=UTC)
EMBEDDER = Hashed()
POLICY = Policy(near=0.5, one_sided=0.6)


def episode(title: str) -> Episode:
    summary = Summary(
        title=title,
        summary="Done.",
        key_points=("Caches expire.",),
        outcome=Outcome.RESOLVED,
        outcome_rationale="",
        topics=(),
    )
    return Episode(
        id=uuid5(NAMESPACE, title),
        scope=Scope(),
        session_id=f"session of {title}",
        agent_id="tester",
        version="v",
        summary=summary,
        candidate_facts=(),
        tier=Tier.EXTRACTIVE,
        event_id=UUID(int=1),
        ended_at=AT,
        format="qbit",
        entries=1,
        bytes=1,
        excerpt_digest="",
        excerpt_chars=0,
        excerpt_dropped=0,
    )


def knowing(*texts: str) -> Knowledge:
    knowledge = Knowledge(embedder_id=EMBEDDER.id, dim=EMBEDDER.dim)
    for number, text in enumerate(texts):
        source = Source(
            episode_id=uuid5(NAMESPACE, text), event_id=UUID(int=number), session_id=f"s{number}", turns=(number,)
        )
        learning = learn(
            [CandidateFact(text=text, event_date="2025-12-24")],
            EMBEDDER.embed([text]),
            knowledge=knowledge,
            occasion=Occasion(scope=Scope(), source=source, policy=POLICY, at=AT),
        )
        knowledge.extend(learning.rows, learning.vectors)
    return knowledge


def found(query: str, knowledge: Knowledge, *episodes: Episode, limit: int = 10) -> tuple[Hit, ...]:
    return search(query, knowledge=knowledge, episodes=episodes, embed=EMBEDDER.embed, limit=limit)


def test_the_best_fact_comes_first_with_where_it_is_from() -> None:
    hits = found("where is the cache", knowing("Tim likes tea", "The cache is in Redis", "Lena owns billing"))

    best = hits[0]
    assert (best.kind, best.text, best.session_id, best.turns) == (
        Remembrance.FACT,
        "The cache is in Redis",
        "s1",
        (1,),
    )
    assert (best.date, best.event_date) == (AT, "2025-12-24")
    assert best.episode_id == uuid5(NAMESPACE, "The cache is in Redis")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("query", ["8081", "port 8081?", "`nous/ingest.rs`", "ingest.rs", "INGEST"])
def test_an_identifier_is_found_by_its_letters(query: str) -> None:
    knowledge = knowing(
        *(f"The API of tenant {number} listens on port {8000 + number}" for number in range(70, 90)),
        "Port 8081 is parsed in nous/ingest.rs",
    )

    assert "8081" in found(query, knowledge)[0].text


def test_episodes_are_found_beside_facts() -> None:
    hits = found("login page redesign", knowing("Tim likes tea"), episode("Redesign the login page"), episode("Fix CI"))

    assert (hits[0].kind, hits[0].id) == (Remembrance.EPISODE, uuid5(NAMESPACE, "Redesign the login page"))
    assert hits[0].episode_id == hits[0].id
    assert hits[0].session_id == "session of Redesign the login page"


def test_superseded_facts_are_hidden() -> None:
    knowledge = knowing("The team uses Postgres for billing", "The team uses Postgres for billing in production")

    assert [hit.text for hit in found("Postgres", knowledge)] == ["The team uses Postgres for billing in production"]


def test_the_limit_holds_and_nothing_is_found_in_nothing() -> None:
    assert len(found("tea", knowing("Tim likes tea", "Ann likes tea", "Bo likes tea"), limit=2)) == 2
    assert found("tea", knowing()) == ()
    assert found("", knowing("Tim likes tea")) == ()


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    common, rare, neither = word_scores("the parser", ["the cat", "a parser", "some rum"])

    assert rare == common > neither == 0

    [_, both, once] = word_scores("the parser", ["the cat", "the parser", "the dog"])

    assert both > once > 0
