"""Finding what is known, and how it is known."""

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

from nous.domain.episode import CandidateFact, Category, Episode, Quote, Trust
from nous.domain.errors import Unavailable
from nous.domain.fact import Superseded
from nous.domain.scope import Scope
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.precedence import keeping_apart, merging, superseding, unsettling
from nous.retrieval.provenance import Provenance, provenance_of
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


PORT, OTHER_PORT = "The API is on port 8080", "The API is on port 8081"


def why(knowledge: FactIndex, text: str, *episodes: Episode) -> Provenance:
    stored = {(Scope(), source("first").episode_id): episodes}
    return provenance_of(id_of(knowledge, text), knowledge, lambda scope, name: stored.get((scope, name), ()))


def test_each_telling_names_its_source_and_its_reason() -> None:
    knowledge = nothing()
    taught(knowledge, PORT)
    taught(knowledge, "the API is on port 8080.", session="second")

    first, second = why(knowledge, PORT).tellings

    assert (first.text, first.reason) == (PORT, "nothing known is near")
    assert (second.text, second.reason) == ("the API is on port 8080.", "the same text")
    assert second.source.session_id == "second"
    assert second.source.digest == "ab" * 32


def test_a_fact_in_the_place_of_another_is_told_by_both() -> None:
    knowledge = nothing()
    taught(knowledge, PORT)
    taught(knowledge, OTHER_PORT, session="second")
    old, new = id_of(knowledge, PORT), id_of(knowledge, OTHER_PORT)

    knowledge.extend(superseding(knowledge[old], knowledge[new], knowledge=knowledge, reason="moved", at=AT), {})

    assert "gave way to" in {each.relation for each in why(knowledge, PORT).relatives}
    assert "took the place of" in {each.relation for each in why(knowledge, OTHER_PORT).relatives}
    assert [known.fact.id for known in knowledge.current()] == [new]


def test_what_a_person_settled_is_told_by_both_with_the_reason_and_that_it_was_taken_back() -> None:
    made = Log()
    for text in (PORT, "Ann drinks rum"):
        made.say(text, text)
    made.link("Ann", PORT, likelihood=0.5)

    def relations(text: str) -> list[tuple[str, bool]]:
        return [(each.relation, each.by_hand) for each in why(made.knowledge, text).relatives]

    made.settle(merging, "Ann", PORT, reason="both are hers")
    assert relations("Ann drinks rum") == [("was merged into", True), ("may say the same as", False)]
    assert relations(PORT) == [("was merged with", True), ("may say the same as", False)]
    assert why(made.knowledge, PORT).tellings[1].reason == "both are hers"

    made.settle(unsettling, "Ann", PORT)
    made.settle(keeping_apart, "Ann", PORT)
    assert relations(PORT) == [
        ("had been merged with", True),
        ("was separated again from", True),
        ("may say the same as", False),
        ("is kept apart from", True),
    ]

    made.settle(unsettling, "Ann", PORT)
    assert relations(PORT)[-2:] == [("had been kept apart from", True), ("is no longer kept apart from", True)]


def test_a_fact_is_named_by_the_beginning_of_its_id() -> None:
    knowledge = nothing()
    taught(knowledge, PORT)
    fact_id = str(id_of(knowledge, PORT))

    for name in (fact_id, fact_id.upper(), fact_id[:11], fact_id.replace("-", "")):
        assert [known.fact.text for known in knowledge.named(name)] == [PORT]
    assert knowledge.named("") == knowledge.named("xyz") == []


def test_the_quotes_of_the_first_edition_that_has_some_are_shown() -> None:
    knowledge = nothing()
    taught(knowledge, PORT)
    quotes = (Quote(1, "port 8080"), Quote(2, "thanks"))
    plain, other = CandidateFact(text=PORT), CandidateFact(text=OTHER_PORT, quotes=quotes[:1])
    unquoted = replace(episode(), candidate_facts=(plain, other))
    earlier = replace(unquoted, candidate_facts=(replace(plain, quotes=quotes),))

    assert [each.quotes for each in why(knowledge, PORT, unquoted, earlier).tellings] == [quotes]
    assert [each.quotes for each in why(knowledge, PORT, unquoted).tellings] == [()]
