"""Facts that were learned without a vector, compared after all."""

import pytest
from builders.knowing import Scene

from nous.domain.episode import Trust
from nous.domain.fact import Linked
from nous.knowledge.verdict import Dedup, Policy

PORT, AGAIN, OTHER = "The API is on port 8080", "The API's on port 8080", "The API is on port 8081"


@pytest.fixture
def scene() -> Scene:
    return Scene(Policy(near=0.4))


def test_facts_that_wait_together_are_compared_with_each_other(scene: Scene) -> None:
    for month, text in enumerate((PORT, AGAIN, "Tim likes tea"), start=1):
        scene.hear(text, month=month, has_vector=False)

    assert scene.mend() == ["new", "known", "new"]
    assert scene.current == [PORT, "Tim likes tea"]


@pytest.mark.parametrize("is_linked", [True, False])
def test_what_differs_is_kept_and_linked_once(scene: Scene, *, is_linked: bool) -> None:
    first = scene.hear(PORT, month=1)
    second = scene.hear(OTHER, month=2, trust=Trust.ASSISTANT, subject="", has_vector=False).fact
    if is_linked:
        link = Linked(fact_id=second.id, other=first.fact.id, reason="numbers differ", at=second.learned_at)
        scene.knowledge.extend([link], {})

    assert scene.mend() == ["linked"]
    assert scene.current == [PORT, OTHER]
    assert len(scene.knowledge[second.id].links) == 1


@pytest.mark.parametrize("has_vectors", [(False, False), (False, True), (True, False)])
def test_of_two_that_wait_the_one_that_was_said_later_is_current(*, has_vectors: tuple[bool, bool]) -> None:
    scene = Scene(Policy(dedup=Dedup.EXACT))
    for at, (text, has_vector) in enumerate(zip((PORT, OTHER), has_vectors, strict=True), start=1):
        scene.hear(text, month=at, has_vector=has_vector)
    scene.policy = Policy(near=0.4)

    scene.mend()

    assert scene.current == [OTHER]
