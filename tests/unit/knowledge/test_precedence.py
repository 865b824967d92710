"""Which fact may take the place of which: by whose word it is."""

import pytest
from builders.knowing import Scene

from nous.domain.episode import Trust
from nous.knowledge.learn import ALREADY
from nous.knowledge.open_pairs import open_pairs
from nous.knowledge.verdict import Relation

DOUBTED = pytest.mark.parametrize("trust", [Trust.TOOL, Trust.WEB])
PORT, OTHER, REWORDED = "The API listens on port 8081", "The API listens on port 6666", "API listens on port 6666"
MORE = f"{PORT} by default"


def trusts(scene: Scene) -> dict[str, Trust]:
    return {known.fact.text: known.trust for known in scene.knowledge.current()}


@DOUBTED
@pytest.mark.parametrize("text", [MORE, OTHER])
@pytest.mark.parametrize("has_vector", [True, False])
def test_what_a_tool_or_a_page_says_takes_no_place_of_what_a_user_said(
    trust: Trust, text: str, *, has_vector: bool
) -> None:
    scene = Scene()
    scene.hear(PORT, month=1)

    decision = scene.hear(text, month=2, trust=trust, has_vector=has_vector)

    if has_vector:
        assert decision.verdict.name == "linked"
        assert decision.verdict.reason.endswith("but only a tool or a page says so")
    assert "known" not in scene.mend()
    assert scene.current == [PORT, text]


def test_an_agent_takes_no_place_of_what_a_user_said() -> None:
    scene = Scene()
    scene.hear(PORT, month=1)

    assert scene.hear(OTHER, month=2, trust=Trust.ASSISTANT).verdict.reason.endswith("but only an agent says so")
    assert scene.current == [PORT, OTHER]


@pytest.mark.parametrize("trust", [Trust.WEB, Trust.USER])
@pytest.mark.parametrize("text", [MORE, OTHER])
def test_a_page_gives_way_to_a_page_and_to_a_user(text: str, trust: Trust) -> None:
    scene = Scene()
    scene.hear(PORT, month=1, trust=Trust.WEB)
    scene.hear(text, month=2, trust=trust)

    assert scene.current == [text]


def test_what_a_user_said_before_a_page_is_not_made_history_by_it() -> None:
    scene = Scene()
    scene.hear(OTHER, month=6, trust=Trust.WEB)

    late = scene.hear(PORT, month=1)

    assert late.verdict.reason.endswith("but only a tool or a page says the other")
    assert scene.current == [OTHER, PORT]


def test_a_page_that_repeats_what_a_user_said_confirms_it_and_makes_it_no_newer() -> None:
    scene = Scene()
    first = scene.hear(PORT, month=1)

    assert scene.hear(PORT, month=6, trust=Trust.WEB).verdict.name == "known"
    assert scene.knowledge[first.fact.id].times_confirmed == 2
    assert scene.hear(OTHER, month=3).verdict.name == "supersedes"


@pytest.mark.parametrize("is_said_before", [True, False])
def test_whoever_says_less_than_a_page_does_not_vouch_for_the_rest(*, is_said_before: bool) -> None:
    scene = Scene()
    if is_said_before:
        scene.hear(PORT, month=1, trust=Trust.WEB)
    richer = scene.hear(MORE, month=2, trust=Trust.WEB)

    decision = scene.hear(PORT, month=3)

    assert decision.verdict.name == "linked"
    assert scene.knowledge[richer.fact.id].trust is Trust.WEB
    assert scene.current == [MORE, PORT]


@pytest.mark.parametrize("relation", [Relation.MORE, Relation.CORRECTS])
def test_a_model_that_compares_facts_puts_no_page_above_a_user(relation: Relation) -> None:
    scene = Scene()
    scene.hear("Tim buys the green tea", month=1)

    decision = scene.hear(
        "Every morning Tim fetches a pot of green tea at Mill Lane", month=2, trust=Trust.WEB, ruling=relation
    )

    assert decision.verdict.name == "linked"
    assert "the tests: so; but only a tool or a page says so" in decision.verdict.reason


@DOUBTED
@pytest.mark.parametrize("again", [OTHER, REWORDED])
@pytest.mark.parametrize("month", [2, 3])
def test_what_a_page_said_is_offered_as_an_update_once_a_user_says_it(trust: Trust, again: str, month: int) -> None:
    """Also in the very episode of the page."""
    scene = Scene()
    scene.hear(PORT, month=1)
    scene.hear(OTHER, month=2, trust=trust)

    decision = scene.hear(again, month=month)

    assert decision.verdict.name == "known"
    assert trusts(scene) == {PORT: Trust.USER, OTHER: Trust.USER}
    [pair] = open_pairs(scene.knowledge)
    assert (pair.newer.fact.text, pair.older.fact.text) == (OTHER, PORT)


@pytest.mark.parametrize("again", [OTHER, REWORDED])
def test_an_episode_with_two_voices_adds_nothing_when_it_comes_again(again: str) -> None:
    scene = Scene()
    scene.hear(PORT, month=1)
    said = ((OTHER, Trust.TOOL), (again, Trust.USER))
    for text, trust in said:
        assert scene.hear(text, month=2, trust=trust).rows

    decisions = [scene.hear(text, month=2, trust=trust) for text, trust in said]

    assert [(each.rows, each.verdict.reason) for each in decisions] == [((), ALREADY)] * 2
