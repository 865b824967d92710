"""How a fact is known."""

from dataclasses import replace

from builders.episodes import episode
from builders.knowing import AT, id_of, nothing, source, taught
from builders.settling import Log

from nous.domain.episode import CandidateFact, Episode, Quote
from nous.domain.scope import Scope
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.precedence import keeping_apart, merging, superseding, unsettling
from nous.retrieval.provenance import Provenance, provenance_of

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
