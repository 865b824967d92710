"""One thing said twice by one episode, in one voice or in two."""

from datetime import UTC, datetime

import pytest
from builders.knowing import nothing, taught

from nous.domain.episode import CandidateFact, Trust
from nous.knowledge.decision import FactDecision
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.learn import ALREADY
from nous.knowledge.verdict import Policy

PORT, OTHER, REWORDED = "The API listens on port 8080", "The API listens on port 8081", "API listens on port 8081"
DOUBTED = pytest.mark.parametrize("trust", [Trust.TOOL, Trust.WEB])


AT = datetime(2026, 5, 1, tzinfo=UTC)


def hear(knowledge: FactIndex, text: str, trust: Trust = Trust.USER, *, month: int = 2) -> FactDecision:
    """What the session of that month teaches with *text*."""
    said_at = datetime(2026, month, 1, tzinfo=UTC)
    candidate, policy = CandidateFact(text=text, subject="API", trust=trust), Policy(near=0.5, one_sided=0.6)
    [fact_decision] = taught(knowledge, candidate, session=f"month {month}", said_at=said_at, policy=policy)
    return fact_decision


def current(knowledge: FactIndex) -> dict[str, Trust]:
    return {known.fact.text: known.trust for known in knowledge.current()}


@DOUBTED
@pytest.mark.parametrize("again", [OTHER, REWORDED])
def test_a_user_corrects_others_with_what_a_tool_or_a_page_said_in_the_same_episode(trust: Trust, again: str) -> None:
    knowledge = nothing()
    hear(knowledge, PORT, month=1)
    hear(knowledge, OTHER, trust)

    assert hear(knowledge, again).correction
    assert current(knowledge) == {OTHER: Trust.USER}


@DOUBTED
def test_a_wording_that_a_tool_or_a_page_repeated_is_vouched_for_in_the_same_episode(trust: Trust) -> None:
    knowledge = nothing()
    hear(knowledge, OTHER, trust, month=1)
    hear(knowledge, REWORDED, trust)

    hear(knowledge, REWORDED)

    assert current(knowledge) == {OTHER: Trust.USER}


@pytest.mark.parametrize("again", [OTHER, REWORDED])
def test_an_episode_with_two_voices_adds_nothing_when_it_comes_again(again: str) -> None:
    knowledge = nothing()
    hear(knowledge, PORT, month=1)
    said = ((OTHER, Trust.TOOL), (again, Trust.USER))
    for text, trust in said:
        assert hear(knowledge, text, trust).rows

    fact_decisions = [hear(knowledge, text, trust) for text, trust in said]

    assert [(fact_decision.rows, fact_decision.verdict.reason) for fact_decision in fact_decisions] == [
        ((), ALREADY)
    ] * 2


def test_an_episode_that_comes_back_to_its_words_when_others_have_said_them_too_teaches_no_second_fact() -> None:
    knowledge = nothing()
    for text, month in ((PORT, 1), (OTHER, 2), (PORT, 3), (OTHER, 4)):
        assert hear(knowledge, text, month=month).rows

    [again] = taught(knowledge, CandidateFact(text=PORT, subject="API"), session="month 1", said_at=AT)

    assert (again.rows, again.verdict.reason) == ((), ALREADY)


def test_what_an_episode_has_learned_and_outdone_itself_is_not_learned_again() -> None:
    knowledge = nothing()
    hear(knowledge, PORT, Trust.TOOL)
    richer = hear(knowledge, f"{PORT} by default", Trust.TOOL)
    assert richer.verdict.name == "richer"

    assert hear(knowledge, PORT).rows == ()
    assert list(current(knowledge)) == [f"{PORT} by default"]
