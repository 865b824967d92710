"""Finding what is known."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from builders.episodes import NOON, episode
from builders.knowing import AT, id_of, nothing, source, taught
from builders.settling import Log
from numpy import float32
from numpy.typing import NDArray

from nous.domain.episode import CandidateFact, Category, Episode, Trust
from nous.domain.errors import Unavailable
from nous.domain.fact import Superseded
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.precedence import superseding
from nous.retrieval.query import Embed, Filters, Hit, HitKind, asked
from nous.retrieval.search import Corpus, ScopeIndex, search

EMBED = HashingEmbedder().embed
FACT, EPISODE = HitKind.FACT, HitKind.EPISODE


def knowing(*candidates: str | CandidateFact) -> FactIndex:
    """A scope in which each of *candidates* is known from a session of its own."""
    knowledge = nothing()
    for number, candidate in enumerate(candidates):
        taught(knowledge, candidate, session=f"s{number}")
    return knowledge


def found(
    query: str,
    knowledge: FactIndex,
    *episodes: Episode,
    limit: int = 10,
    embed: Embed | None = EMBED,
    everything: bool = False,
    **only: Any,
) -> tuple[Hit, ...]:
    vectors = {each.id: EMBED([each.summary.text])[0] for each in episodes}
    corpus = Corpus(scope_index=ScopeIndex(knowledge), episodes=episodes, vectors=vectors, only=Filters(**only))
    return search(asked(query, embed), corpus, limit=limit, everything=everything)


def texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.text for hit in hits]


def test_the_best_fact_comes_first_with_where_it_is_from_and_why_it_was_found() -> None:
    [best, *_] = hits = found("where is the cache", knowing("Tim likes tea", "The cache is in Redis", "Ann likes rum"))

    assert (best.kind, best.text, best.session_id, best.turns) == (FACT, "The cache is in Redis", "s1", (1,))
    assert (best.date, best.episode_id) == (AT, source("s1").episode_id)
    assert [reason.split(": ")[0] for reason in best.found_by] == ["words", "meaning"]
    assert "words: cache" in best.found_by
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("query", ["8081", "port 8081?", "`nous/ingest.rs`", "ingest.rs", "INGEST"])
def test_an_identifier_is_found_by_its_letters(query: str) -> None:
    tenants = (f"The API of tenant {number} listens on port {8000 + number}" for number in range(70, 90))
    knowledge = nothing()
    taught(knowledge, *tenants, "Port 8081 is parsed in nous/ingest.rs")

    assert "8081" in found(query, knowledge)[0].text


def test_a_hit_has_the_session_that_said_it_last_and_its_date() -> None:
    knowledge, late = knowing("The cache is Redis"), AT + timedelta(days=1)
    taught(knowledge, "the cache is Redis.", session="late", said_at=late)

    [hit] = found("cache", knowledge)

    assert (hit.session_id, hit.date) == ("late", late)


def test_a_query_that_nothing_is_near_finds_nothing() -> None:
    knowledge = knowing("The cache is in Redis", "Deploys need a tag")

    assert found("how do I cook rice", knowledge, embed=None) == ()
    assert found("tea", nothing()) == ()
    assert found("", knowledge) == found(" \n", knowledge) == ()


def test_episodes_are_found_beside_facts_by_words_and_by_their_vectors() -> None:
    [hit, *_] = found("Größe ist?", knowing("Tim likes tea"), episode("e1"))

    assert (hit.kind, hit.id, hit.episode_id, hit.session_id) == (EPISODE, episode("e1").id, episode("e1").id, "e1")
    assert [reason.split(": ")[0] for reason in hit.found_by] == ["words", "meaning"]


@pytest.mark.parametrize(
    "query", ["8081", "W4923227", "what is `10.0.0.12`?", "ann@example.com", "a" + "-" * 99_999 + "1"]
)
def test_mere_identifiers_are_not_searched_by_meaning(query: str) -> None:
    assert asked(query, HashingEmbedder().embed).vector is None


@pytest.mark.parametrize("query", ["port 8081", "我们的端口是8080吗", "LastPrompt"])
def test_words_beside_identifiers_are(query: str) -> None:
    assert asked(query, HashingEmbedder().embed).vector is not None


def test_a_file_finds_the_sessions_that_touched_it_and_the_texts_that_name_it() -> None:
    knowledge = knowing("Retries are counted in src/ingest.rs", "Tim likes tea", "my_ingest.rs is another")
    session = replace(episode("s1"), files_touched=("/home/me/src/ingest.rs",))
    other = replace(episode("s9"), files_touched=("src/my_ingest.rs", "src/ingest.rs.bak"))

    hits = found("what about `./src/ingest.rs`", knowledge, session, other, embed=None)

    assert set(texts(hits)) == {"Retries are counted in src/ingest.rs", session.summary.text}
    [touching] = [hit for hit in hits if hit.kind is HitKind.EPISODE]
    assert touching.found_by == ("file: /home/me/src/ingest.rs",)


def test_a_superseded_fact_gives_way_to_its_successor() -> None:
    knowledge = knowing("Billing runs on Postgres 14", "Search is fast", "Billing moved to Postgres 16")
    old, _, new = (known.fact.id for known in knowledge)
    knowledge.extend([Superseded(fact_id=old, by=new, reason="", at=AT)], {})

    assert texts(found("Postgres", knowledge)) == ["Billing moved to Postgres 16"]
    assert len(found("Postgres", knowledge, everything=True)) == 2


def test_a_superseded_fact_whose_successor_is_not_found_comes_far_down_and_is_marked() -> None:
    knowledge = knowing("Staging listens on port 8080", "Everything moved to Lisbon", "Port 8080 was hard to free")
    ids = [id_of(knowledge, known.fact.text) for known in knowledge]
    knowledge.extend([Superseded(fact_id=ids[0], by=ids[1], reason="", at=AT)], {})

    hits = found("port 8080", knowledge, embed=None)

    assert [(hit.id, hit.superseded_by) for hit in hits] == [(ids[2], None), (ids[0], ids[1])]


def test_a_fact_is_found_with_the_values_before_and_one_of_those_with_the_day_until_which_it_was_true() -> None:
    made = Log()
    for text in ("The API is on port 8080", "Calls go to gate 8081"):
        made.say(text, text)
    made.settle(superseding, "The API", "Calls")
    old, new = made.id("The API"), made.id("Calls")

    [hit] = found("gate 8081", made.knowledge)
    past = found("gate 8081 API port", made.knowledge, everything=True)

    assert [(each.id, each.text, each.until) for each in hit.earlier] == [(old, "The API is on port 8080", AT)]
    assert {(each.id, each.superseded_by, each.valid_to) for each in past} == {(new, None, None), (old, new, AT)}


def test_filters_hold() -> None:
    knowledge = knowing("The cache is Redis", CandidateFact(text="Use the cache always", category=Category.RULE))
    taught(knowledge, CandidateFact(text="A cache page said so"), session="late", said_at=AT + timedelta(days=1))
    session = episode("cache session")

    assert {hit.kind for hit in found("cache", knowledge, session, kinds=[FACT])} == {FACT}
    assert texts(found("cache", knowledge, session, categories=["rule"])) == ["Use the cache always"]
    assert texts(found("cache", knowledge, after=AT)) == ["A cache page said so"]
    assert "A cache page said so" not in texts(found("cache", knowledge, before=AT + timedelta(hours=1)))
    assert found("cache", knowledge, trust=Trust.USER) == ()
    assert found("title", nothing(), session, kinds=[EPISODE], before=NOON) == ()


def test_an_embedder_that_does_not_answer_is_done_without_and_said() -> None:
    def silent(_: Sequence[str]) -> NDArray[float32]:
        raise Unavailable("the model is away")

    query = asked("port 8080", silent)

    assert query.lacks == "the model is away"
    hits = search(query, Corpus(scope_index=ScopeIndex(knowing("The API listens on port 8080"))))
    assert [hit.found_by for hit in hits] == [("words: port, 8080",)]
