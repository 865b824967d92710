"""Rows of somebody else's log, joined to a log."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from uuid import uuid4

import pytest
from builders.knowing import nothing, taught

from nous.domain.episode import CandidateFact
from nous.domain.fact import Confirmed, Learned, Linked, Row, Superseded
from nous.knowledge.erase import FORGOTTEN, without_fact
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.import_merge import LEFT_BEHIND, ExistingLog, MergeResult, is_tie, merge_rows
from nous.knowledge.normalize import exact_form
from nous.store.export_format import exported

PORT, OTHER_PORT, CARLA = "The API is on port 8080", "The API is on port 8081", "Carla prefers tabs"


def log(*said: str, by: str = "a") -> Sequence[Row]:
    """The rows by which *said*, each by a session of its own, were learned: what contradicts is of one subject."""
    knowledge = nothing()
    facts = [CandidateFact(text=text, subject="API") for text in said]
    found = [taught(knowledge, fact, session=f"{by}{number}") for number, fact in enumerate(facts)]
    return list(
        exported(row for fact_decisions in found for fact_decision in fact_decisions for row in fact_decision.rows)
    )


def join(rows: Sequence[Row], present: Sequence[Row] = (), *, forgotten: str = "", gone: str = "") -> MergeResult:
    return merge_rows(rows, present, forgotten={exact_form(forgotten)}, gone={gone})


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
    assert list(ExistingLog(rows).missing(rows)) == []
    assert join(rows, rows) == MergeResult(rows=(), unknown=0, forgotten=0)


@pytest.mark.parametrize("seed", range(10))
def test_rows_in_any_order_come_to_the_same(seed: int) -> None:
    rows = log(PORT, OTHER_PORT, f"{OTHER_PORT}.", CARLA)
    shuffled = random.Random(seed).sample(rows, len(rows))

    found = join(shuffled)

    assert found.unknown == 0
    assert current(found.rows) == current(rows) == {OTHER_PORT: {"a1", "a2"}, CARLA: {"a3"}}
    assert join(rows, found.rows).rows == ()


@pytest.mark.parametrize("seed", range(10))
def test_a_fact_whose_reason_quotes_another_comes_behind_that_and_what_ties_them_right_behind_it(seed: int) -> None:
    rows = log(PORT, OTHER_PORT, "The API is on port 8082", CARLA)
    assert [row for row in learned(rows) if "808" in row.reason] == learned(rows)[1:3]
    shuffled = random.Random(seed).sample(rows, len(rows))

    for found in (join(rows).rows, join(shuffled).rows):
        for at, row in enumerate(found):
            for port in ("8080", "8081"):
                if isinstance(row, Learned) and port in row.reason and port not in row.fact.text:
                    assert port in str([each.fact.text for each in learned(found[:at])])
                    assert tie(found, row) in takewhile(is_tie, found[at + 1 :])
    assert learned(join(rows).rows) == learned(rows)


def tie(rows: Sequence[Row], fact: Learned) -> Row:
    """What ties *fact* to the one that its reason quotes."""
    [found] = [row for row in rows if isinstance(row, Superseded) and row.by == fact.fact.id]
    assert found.reason == fact.reason
    return found


def test_rows_about_facts_that_nobody_has_are_left_out_and_counted() -> None:
    _, new, gone, again = log(PORT, OTHER_PORT, f"{OTHER_PORT}.")

    assert isinstance(new, Learned)
    assert join([gone, again, new]) == MergeResult(
        rows=(replace(new, reason=LEFT_BEHIND), again), unknown=1, forgotten=0
    )


def test_a_fact_is_not_told_in_reasons_when_its_text_was_forgotten() -> None:
    rows = log(PORT, OTHER_PORT, f"{PORT}!")
    assert "8080" in learned(rows)[1].reason

    found = join(rows, forgotten=PORT).rows

    assert [(row.fact.text, row.reason) for row in learned(found)] == [(OTHER_PORT, FORGOTTEN)]
    assert "8080" not in str(found)


def test_what_two_have_found_of_one_fact_stays_tied_to_it_and_is_forgotten_with_it() -> None:
    base, *here = log(PORT, OTHER_PORT, by="here")
    there = [base, *(_of_fact(row, base) for row in log(PORT, "The API is on port 8082", by="there")[1:])]

    both = [base, *here, *join(there, [base, *here]).rows]

    assert [row.reason for row in both if isinstance(row, Linked)] == [learned(there)[1].reason]
    assert join(there, both).rows == ()
    assert isinstance(base, Learned)
    left = [row for row, _ in without_fact(both, base.fact.id).rows]
    assert [row.fact.text for row in learned(left)] == [OTHER_PORT, "The API is on port 8082"]
    assert "8080" not in str(left)


def _of_fact(row: Row, base: Row) -> Row:
    """*row*, said of *base* where it says that something has given way."""
    return replace(row, fact_id=base.fact.id) if isinstance(row, Superseded) and isinstance(base, Learned) else row


def test_what_gave_way_to_a_forgotten_text_gives_way_to_what_took_its_place() -> None:
    rows = log(PORT, OTHER_PORT, "The API is on port 8082")

    found = join(rows, forgotten=OTHER_PORT).rows

    assert current(found) == {"The API is on port 8082": {"a2"}}
    assert len(learned(found)) == 2


def test_a_fact_of_which_the_first_wording_was_forgotten_is_not_told_in_another() -> None:
    [fact] = log(PORT)
    assert isinstance(fact, Learned)
    source = replace(fact.fact.source, session_id="b", event_id=uuid4())
    again = Confirmed(
        fact_id=fact.fact.id, source=source, text="It listens on 8080", reason="", at=fact.fact.learned_at
    )

    assert join([fact, again], forgotten=PORT).rows == ()
    assert join([fact, again], forgotten=again.text).rows == (fact,)
    assert [row.fact.text for row in learned(join([fact, again], gone="a0").rows)] == [again.text]


def test_an_equal_text_is_the_same_fact_said_by_others_too() -> None:
    here, there = log(PORT, by="here"), log(f"{PORT}.", by="there")

    found = join(there, here).rows

    assert current([*here, *found]) == {PORT: {"here0", "there0"}}
    assert join(there, [*here, *found]).rows == ()


def test_two_equal_texts_that_are_brought_are_one_fact() -> None:
    rows = [*log(PORT, by="one"), *log(PORT, by="two")]

    assert current(join(rows).rows) == {PORT: {"one0", "two0"}}


def test_what_is_tied_to_an_equal_text_is_tied_to_the_fact_that_is_there() -> None:
    here, there = log(PORT, by="here"), [*log(OTHER_PORT, PORT, by="there"), *log(CARLA)]
    [owner], [_, fact, carla] = learned(here), learned(there)
    link = Linked(fact_id=carla.fact.id, other=fact.fact.id, reason="", at=fact.fact.learned_at)

    found = join([*there, link], here).rows

    assert current([*here, *found]) == {PORT: {"here0", "there1"}, CARLA: {"a0"}}
    assert [row.by for row in found if isinstance(row, Superseded)] == [owner.fact.id]
    assert [row.other for row in found if isinstance(row, Linked)] == [owner.fact.id]


def test_what_has_given_way_elsewhere_comes_as_history() -> None:
    here, there = log(PORT, by="here"), log(PORT, OTHER_PORT, by="there")

    assert current([*here, *join(there, here).rows]) == {PORT: {"here0"}, OTHER_PORT: {"there1"}}


def test_what_was_said_again_once_does_not_come_back_when_it_has_given_way_since() -> None:
    there = log(PORT, by="there")
    before = log(PORT, by="here")
    both = [*before, *join(there, before).rows]
    since = [*both, *(row for row in log(PORT, OTHER_PORT, by="here") if row not in before)]
    assert current(since) == {OTHER_PORT: {"here1"}}

    assert join(there, since).rows == ()


def test_two_who_have_merged_the_same_facts_each_the_other_way_round_make_no_ring() -> None:
    one, two = learned(log(PORT, CARLA))
    here = Superseded(fact_id=one.fact.id, by=two.fact.id, reason="", at=one.fact.learned_at)
    there = Superseded(fact_id=two.fact.id, by=one.fact.id, reason="", at=one.fact.learned_at)

    assert list(ExistingLog([one, two, here]).missing([there])) == []
    assert list(ExistingLog().missing([one, two, here, there]))[-1] == here
    assert list(ExistingLog([one]).missing([replace(here, by=one.fact.id)])) == []
