"""Rows of the log of a scope, joined to that of another."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

from builders.knowing import AT, nothing, taught

from nous.domain.episode import CandidateFact
from nous.domain.fact import Confirmed, Learned, Row, Superseded, bare
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.learn import embed_late
from nous.knowledge.normalize import exact_form
from nous.knowledge.verdict import Policy
from nous.services.scope_move import missing_rows

PORT, OTHER_PORT, CARLA = "The API is on port 8080", "The API is on port 8081", "Carla prefers tabs"


def log(*said: str, by: str = "a") -> Sequence[Row]:
    """The rows by which *said*, each by a session of its own, were learned: what contradicts is of one subject."""
    knowledge = nothing()
    facts = [CandidateFact(text=text, subject="API") for text in said]
    found = [taught(knowledge, fact, session=f"{by}{number}") for number, fact in enumerate(facts)]
    return [bare(row) for fact_decisions in found for fact_decision in fact_decisions for row in fact_decision.rows]


def join(rows: Sequence[Row], present: Sequence[Row] = (), *, forgotten: str = "", gone: str = "") -> Sequence[Row]:
    return missing_rows(rows, present, forgotten={exact_form(forgotten)}, gone={gone})


def current(rows: Sequence[Row]) -> dict[str, set[str]]:
    """Each current fact, and who has said it."""
    knowledge = FactIndex(embedder_id="", dim=0)
    knowledge.extend(rows, {})
    return {each.fact.text: {source.session_id for source in each.sources} for each in knowledge.current()}


def learned(rows: Sequence[Row]) -> list[Learned]:
    return [row for row in rows if isinstance(row, Learned)]


def test_what_has_all_lacks_nothing() -> None:
    rows = log(PORT, OTHER_PORT, f"{OTHER_PORT}.")

    assert [type(row) for row in rows] == [Learned, Learned, Superseded, Confirmed]
    assert join(rows, rows) == ()


def test_a_fact_is_not_told_in_reasons_when_its_text_was_forgotten() -> None:
    rows = log(PORT, OTHER_PORT, f"{PORT}!")
    assert "8080" in learned(rows)[1].reason

    found = join(rows, forgotten=PORT)

    assert [row.fact.text for row in learned(found)] == [OTHER_PORT]
    assert "8080" not in str(found)


def test_what_gave_way_to_a_forgotten_text_gives_way_to_what_took_its_place() -> None:
    rows = log(PORT, OTHER_PORT, "The API is on port 8082")

    found = join(rows, forgotten=OTHER_PORT)

    assert current(found) == {"The API is on port 8082": {"a2"}}
    assert len(learned(found)) == 2


def test_a_fact_of_which_the_first_wording_was_forgotten_is_not_told_in_another() -> None:
    [fact] = log(PORT)
    assert isinstance(fact, Learned)
    source = replace(fact.fact.source, session_id="b", event_id=uuid4())
    again = Confirmed(
        fact_id=fact.fact.id, source=source, text="It listens on 8080", reason="", at=fact.fact.learned_at
    )

    assert join([fact, again], forgotten=PORT) == ()
    assert join([fact, again], forgotten=again.text) == (fact,)
    assert [row.fact.text for row in learned(join([fact, again], gone="a0"))] == [again.text]


def test_what_has_given_way_elsewhere_comes_as_history() -> None:
    here, there = log(PORT, by="here"), log(PORT, OTHER_PORT, by="there")

    assert current([*here, *join(there, here)]) == {PORT: {"here0"}, OTHER_PORT: {"there1"}}


def test_two_scopes_that_have_merged_the_same_facts_each_the_other_way_round_make_no_ring() -> None:
    one, two = learned(log(PORT, CARLA))
    here = Superseded(fact_id=one.fact.id, by=two.fact.id, reason="", at=one.fact.learned_at)
    there = Superseded(fact_id=two.fact.id, by=one.fact.id, reason="", at=one.fact.learned_at)

    assert join([one, two, there], [one, two, here]) == ()


def test_an_equal_text_is_one_fact_once_it_is_compared() -> None:
    knowledge, vector = nothing(), HashingEmbedder().embed([PORT])[0]
    here, there = log(PORT, by="here"), log(f"{PORT}.", by="there")
    [own] = learned(here)
    knowledge.extend([replace(own, embedded_by=knowledge.embedder_id)], {own.fact.id: vector})
    knowledge.extend(join(there, here), {})

    [waiting] = knowledge.without_vector()
    knowledge.extend(embed_late([(waiting, vector)], knowledge=knowledge, policy=Policy(), at=AT).rows, {})

    assert [(each.fact.text, each.times_confirmed) for each in knowledge.current()] == [(PORT, 2)]
