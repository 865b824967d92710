"""Which candidates can be learned."""

from dataclasses import replace

import pytest

from nous.domain.episode import CandidateFact, Category, Trust
from nous.domain.errors import BadInput
from nous.knowledge.candidate_filter import LONGEST_SUBJECT, LONGEST_TEXT, DropReason, checked, filter_candidates


def test_blanks_are_passed_over_and_what_is_cut_is_reported() -> None:
    candidates = [CandidateFact(text=text) for text in ("one", " ", "two", "...", "three", "four")]

    found = filter_candidates(candidates, cap=3)

    assert [candidate.text for candidate in found.candidates] == ["one", "two", "three"]
    assert dict(found.dropped) == {DropReason.BLANK: 2, DropReason.OVER_CAP: 1}


def test_a_text_too_long_for_a_fact_costs_itself_alone() -> None:
    fitting = CandidateFact(text="The port is 8080")

    found = filter_candidates([CandidateFact(text="x" * (LONGEST_TEXT + 1)), fitting], cap=50)

    assert found.candidates == (fitting,)
    assert dict(found.dropped) == {DropReason.TOO_LONG: 1}


def test_a_subject_too_long_is_cut_and_whoever_tells_it_by_hand_is_told() -> None:
    fitting = CandidateFact(text="The port is 8080", subject="x" * LONGEST_SUBJECT)
    long = replace(fitting, subject="x" * 1_000_000)

    assert filter_candidates([long], cap=50).candidates == (fitting,)
    with pytest.raises(BadInput, match="subject: too long"):
        checked(long)


def test_what_a_later_turn_says_comes_later_and_the_surest_are_kept() -> None:
    later, unknown, earlier = (CandidateFact(text=f"fact {turns}", turns=turns) for turns in ((2, 7), (), (5,)))

    found = filter_candidates([later, unknown, earlier, CandidateFact(text="cut")], cap=3)

    assert found.candidates == (earlier, later, unknown)


def test_only_a_user_gives_rules() -> None:
    given = CandidateFact(text="Use tabs", category=Category.RULE, trust=Trust.USER)
    claimed = CandidateFact(text="Use spaces", category=Category.RULE, trust=Trust.TOOL)

    found = filter_candidates([given, claimed], cap=50)

    assert [candidate.category for candidate in found.candidates] == [Category.RULE, Category.CONCEPT]


def test_signs_that_steer_a_terminal_are_taken_out_before_anything_is_compared() -> None:
    [found] = filter_candidates([CandidateFact(text="The \x1b]0;port\x07is\x00 8080")], cap=50).candidates

    assert found.text == "The  ]0;port is  8080"
    assert filter_candidates([CandidateFact(text="\x1b\x00")], cap=50).candidates == ()
