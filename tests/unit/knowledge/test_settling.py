"""Possible duplicates, and what a person settles: as rows, for good, and with a way back."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from builders.knowing import AT
from builders.settling import Decide, Log, fold, snapshot

from nous.domain.errors import BadInput
from nous.domain.fact import Learned, LinkKind, Superseded
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.candidate_filter import wordings
from nous.knowledge.erase import without_fact, without_session
from nous.knowledge.learn import embed_late
from nous.knowledge.open_pairs import open_pairs
from nous.knowledge.precedence import keeping_apart, merging, superseding, unsettling
from nous.knowledge.verdict import Policy

SHEET, PORT, TEA = "Billing runs on 9017, says the sheet", "The service listens on port 9017", "Tim drinks tea"


def log(*texts: str) -> Log:
    """A log in which each of *texts* is said by a session of its own, and the first two may be one."""
    made = Log()
    for number, text in enumerate(texts or (PORT, SHEET, TEA)):
        made.say(text, f"s{number}")
    made.link(texts[1] if texts else SHEET, texts[0] if texts else PORT, likelihood=0.5)
    return made


def offered(made: Log) -> list[tuple[str, str]]:
    return [(offer.newer.fact.text, offer.older.fact.text) for offer in open_pairs(made.knowledge)]


def test_possible_duplicates_are_offered_likeliest_first_and_links_of_other_kinds_are_not() -> None:
    made = log()
    made.link(TEA, PORT, likelihood=0.9)
    made.link(TEA, SHEET, kind=LinkKind.RELATED)

    assert offered(made) == [(TEA, PORT), (SHEET, PORT)]


def test_a_fact_is_offered_in_the_place_of_one_that_was_merged_into_it_and_not_of_an_earlier_value() -> None:
    made = log()
    made.append(Superseded(fact_id=made.id(SHEET), by=made.id(TEA), reason="richer", at=AT))

    assert offered(made) == [(TEA, PORT)]

    made.append(Superseded(fact_id=made.id(PORT), by=made.id(TEA), reason="value 2 / 1", at=AT, valid_to=AT))

    assert offered(made) == []


@pytest.mark.parametrize("decide", [merging, keeping_apart, superseding])
def test_what_is_taken_back_is_as_before_whoever_settled_it(decide: Decide) -> None:
    made = log()
    before, offered_before = snapshot(made.knowledge), offered(made)
    rows = made.settle(decide, SHEET, PORT)

    made.settle(unsettling, PORT, SHEET)

    assert rows
    assert snapshot(made.knowledge) == snapshot(fold(made.rows)) == before
    assert offered(made) == offered_before
    assert made.settle(unsettling, PORT, SHEET) == ()
    assert made.settle(decide, SHEET, PORT)


def test_what_was_said_in_the_words_of_a_merged_fact_is_its_own_again_when_the_merge_is_taken_back() -> None:
    made = log()
    made.settle(merging, SHEET, PORT)
    made.say(SHEET, "s8")
    made.say(PORT, "s9")

    made.settle(unsettling, SHEET, PORT)

    assert snapshot(made.knowledge) == snapshot(fold(made.rows))
    assert snapshot(made.knowledge)[SHEET] == ({"s1", "s8"}, 2)
    assert snapshot(made.knowledge)[PORT] == ({"s0", "s9"}, 2)


def test_a_merge_is_taken_back_though_the_other_was_merged_meanwhile() -> None:
    made = log()
    made.settle(merging, SHEET, PORT)
    made.settle(merging, PORT, TEA)

    made.settle(unsettling, SHEET, PORT)

    assert snapshot(made.knowledge) == {SHEET: ({"s1"}, 1), TEA: ({"s0", "s2"}, 2)}
    made.settle(unsettling, PORT, TEA)
    assert snapshot(made.knowledge) == snapshot(fold(made.rows))
    assert snapshot(made.knowledge) == {PORT: ({"s0"}, 1), SHEET: ({"s1"}, 1), TEA: ({"s2"}, 1)}


def test_rules_merge_no_facts_that_a_person_keeps_apart() -> None:
    one, other = "The API is on port 8080", "The API's on port 8080"
    made = Log()
    made.say(one, "s0")
    late = made.say("Another matter", "s1")
    learned = next(row for row in late.rows if isinstance(row, Learned))
    fact = replace(learned.fact, id=UUID(int=1), text=other)
    made.append(Learned(fact=fact, reason=""))

    def names() -> list[str]:
        waiting = made.fact(other)
        vector = HashingEmbedder().embed([other])[0]
        found = embed_late([(waiting, vector)], knowledge=made.knowledge, policy=Policy(near=0.4), at=AT)
        return [each.verdict.name for each in found.decisions]

    assert names() == ["known"]
    made.settle(keeping_apart, one, other)
    assert names() == ["new"]


def past(made: Log) -> None:
    made.settle(superseding, SHEET, TEA)


def apart(made: Log) -> None:
    made.settle(keeping_apart, SHEET, PORT)


def merged(made: Log) -> None:
    made.settle(merging, SHEET, PORT)


def apart_and_merged(made: Log) -> None:
    made.settle(keeping_apart, TEA, PORT)
    made.settle(merging, TEA, SHEET)


@pytest.mark.parametrize(
    ("before", "decide", "one", "other", "said"),
    [
        (past, merging, SHEET, PORT, "is superseded by"),
        (past, superseding, TEA, SHEET, "name a current fact"),
        (past, superseding, TEA, TEA, "cannot supersede itself"),
        (merged, merging, PORT, SHEET, "name a current fact"),
        (apart, merging, SHEET, PORT, "kept apart since 2026-01-01: `nous facts unsettle` first"),
        (apart, superseding, SHEET, PORT, "kept apart since 2026-01-01: `nous facts unsettle` first"),
        (apart_and_merged, merging, SHEET, PORT, "kept apart since 2026-01-01: `nous facts unsettle` first"),
        (merged, keeping_apart, PORT, SHEET, "`nous facts unsettle` first"),
    ],
)
def test_what_contradicts_what_holds_is_refused_with_what_to_do(
    before: Callable[[Log], None], decide: Decide, one: str, other: str, said: str
) -> None:
    made = log()
    before(made)

    with pytest.raises(BadInput, match=said):
        made.settle(decide, one, other)


def test_what_was_taken_back_stays_so_when_something_is_forgotten_and_is_not_forgotten_with_it() -> None:
    made = log()
    made.settle(merging, SHEET, PORT)
    made.settle(unsettling, SHEET, PORT)

    rows = [row for row, _ in without_session(made.rows, "s2").rows]
    assert snapshot(fold(rows)) == {PORT: ({"s0"}, 1), SHEET: ({"s1"}, 1)}
    assert any(isinstance(row, Superseded) and row.is_undone for row in rows)
    left = without_fact(made.rows, made.id(PORT))
    assert snapshot(fold([row for row, _ in left.rows])) == {SHEET: ({"s1"}, 1), TEA: ({"s2"}, 1)}
    assert len(wordings(made.rows, {made.id(PORT)})) == 1


def test_the_values_before_are_told_latest_first_also_those_of_what_was_merged() -> None:
    made = log()
    for number, (old, new) in enumerate(((TEA, SHEET), (SHEET, PORT))):
        until = AT + timedelta(days=number)
        made.append(
            Superseded(fact_id=made.id(old), by=made.id(new), reason="", at=until, valid_to=None if number else until)
        )

    assert [(each.text, each.until) for each in made.knowledge.earlier(made.id(PORT))] == [(TEA, AT)]
