"""Verdicts."""

from uuid import UUID, uuid5

import pytest

from nous.domain.episode import NAMESPACE
from nous.knowledge.judge import AlreadyKnown, LinkedTo, NewFact, Richer, judge
from nous.knowledge.statement import Neighbour, Statement
from nous.knowledge.verdict import Dedup, Policy

GUARDED = Policy(one_sided=0.93)
COSINE = Policy(dedup=Dedup.COSINE)
EXACT = Policy(dedup=Dedup.EXACT)


def named(text: str) -> UUID:
    return uuid5(NAMESPACE, text)


def near(text: str, similarity: float) -> Neighbour:
    return Neighbour(fact_id=named(text), statement=Statement(text), similarity=similarity)


@pytest.mark.parametrize("policy", [GUARDED, COSINE, EXACT])
def test_an_equal_text_is_known_under_every_rule(policy: Policy) -> None:
    verdict = judge(Statement("tim likes tea."), [near("Tim likes tea", 0.5)], policy)

    assert verdict == AlreadyKnown(fact_id=named("Tim likes tea"), reason="the same text", similarity=0.5)


def test_the_same_in_other_words_is_known_from_a_modest_cosine() -> None:
    verdict = judge(Statement("Omar wrote the parser"), [near("The parser was written by Omar", 0.8)], GUARDED)

    assert verdict.name == "known"
    assert verdict.reason == "the same in other words"


def test_more_detail_is_richer_and_less_is_known() -> None:
    plain, detailed = "The team uses Postgres", "The team uses Postgres in production"

    assert isinstance(judge(Statement(detailed), [near(plain, 0.93)], GUARDED), Richer)
    assert isinstance(judge(Statement(plain), [near(detailed, 0.93)], GUARDED), AlreadyKnown)


def test_detail_merges_only_above_the_calibrated_cosine() -> None:
    plain, detailed = Statement("The team uses Postgres"), "The team uses Postgres in production"

    assert isinstance(judge(plain, [near(detailed, 0.92)], GUARDED), LinkedTo)
    assert isinstance(judge(plain, [near(detailed, 0.99)], Policy(one_sided=None)), LinkedTo)


def test_a_twin_behind_nearer_strangers_is_found() -> None:
    strangers = [near(f"Service {number} listens on port 8080", 0.99) for number in range(2, 200)]
    twin = near("On port 8080, service 1 listens", 0.9)

    verdict = judge(Statement("Service 1 is listening on port 8080"), [*strangers, twin], GUARDED)

    assert verdict == AlreadyKnown(fact_id=twin.fact_id, reason="the same in other words", similarity=0.9)


def test_an_equal_sense_comes_before_a_nearer_text_with_more_detail() -> None:
    more, equal = near("Omar wrote the parser in May", 0.98), near("The parser was written by Omar", 0.9)

    assert judge(Statement("Omar wrote the parser"), [more, equal], GUARDED).name == "known"
    assert judge(Statement("Omar wrote the parser"), [more, equal], GUARDED) == judge(
        Statement("Omar wrote the parser"), [equal], GUARDED
    )


def test_the_plain_rule_is_strict() -> None:
    statement = Statement("Tim likes tea")

    assert judge(statement, [near("Tim does not like tea", 0.95)], COSINE) == NewFact()
    assert judge(statement, [near("Tim does not like tea", 0.951)], COSINE).name == "known"


def test_the_exact_rule_knows_nothing_but_equal_texts() -> None:
    assert judge(Statement("Omar wrote the parser"), [near("The parser was written by Omar", 0.99)], EXACT) == NewFact()


def test_a_threshold_measured_for_one_model_is_not_used_for_another() -> None:
    assert Policy().for_embedder("all-MiniLM-L6-v2-int8").one_sided == 0.955
    assert Policy().for_embedder("hashed-256").one_sided is None
    assert Policy(one_sided=0.9).for_embedder("hashed-256").one_sided == 0.9
