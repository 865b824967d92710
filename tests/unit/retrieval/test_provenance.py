"""How a fact is known."""

from uuid import UUID

from builders.knowing import AT, id_of, nothing, source, taught
from builders.settling import Log

from nous.domain.summary_input import Segment, SummaryInput
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.precedence import superseding
from nous.knowledge.settling import keeping_apart, merging, unsettling
from nous.retrieval.provenance import Provenance, provenance_of, quoted

PORT, OTHER_PORT = "The API is on port 8080", "The API is on port 8081"


def summary_inputs(episode_id: UUID) -> SummaryInput | None:
    if episode_id != source("first").episode_id:
        return None
    return SummaryInput(windows=((Segment("[User] use port 8080", "User", 1), Segment("[User] thanks", "User", 2)),))


def why(knowledge: FactIndex, text: str) -> Provenance:
    return provenance_of(id_of(knowledge, text), knowledge, summary_inputs)


def test_each_telling_names_its_source_its_reason_and_the_words_of_its_turns() -> None:
    knowledge = nothing()
    taught(knowledge, PORT)
    taught(knowledge, "the API is on port 8080.", session="second")

    first, second = why(knowledge, PORT).tellings

    assert (first.reason, first.quotes) == ("nothing known is near", ("[User] use port 8080",))
    assert (second.text, second.reason, second.quotes) == ("the API is on port 8080.", "the same text", ())
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


FACT = "Tests are run with `mise run test`."


def test_the_line_with_the_words_of_the_fact_is_quoted_with_whose_it_is() -> None:
    segments = [
        Segment("[Assistant] Here is my plan:\n1. look around\n2. mend it", "assistant", 1),
        Segment("[Tools] Edit(reset_test.go) | Bash(mise run test)", "tools", 1),
    ]

    assert quoted(FACT, segments) == ("[Tools] Bash(mise run test)",)


def test_a_line_is_quoted_only_for_what_no_line_before_it_has() -> None:
    said = Segment("[User] staging is on port 8080\nport 8080, right\nI use Redis 8 for the cache", "user", 1)

    quotes = quoted("Staging has port 8080 and its cache is Redis 8", [said])

    assert quotes == ("[User] staging is on port 8080", "[User] I use Redis 8 for the cache")


def test_where_no_line_has_a_word_of_the_fact_the_first_shows_the_place() -> None:
    assert quoted(FACT, [Segment("[User] thanks\nbye", "user", 1)]) == ("[User] thanks",)
    assert quoted(FACT, []) == ()


def test_a_long_line_is_cut_where_the_fact_stands_in_it() -> None:
    rain = "rain and wind " * 100

    [quote] = quoted("The port of staging is 8080", [Segment(f"[User] {rain}staging has port 8080 {rain}", "user", 1)])

    assert "staging has port 8080" in quote
    assert quote.startswith("[User] …")
    assert len(quote) < 320
