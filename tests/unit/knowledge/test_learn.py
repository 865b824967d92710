"""From candidates to rows, at once or once they have a vector, and the fold of a scope's log."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID, uuid5

import numpy as np
import pytest
from builders import fact_rows
from builders.fact_rows import NOON, superseded
from builders.knowing import AT, Scene, nothing, source, taught
from numpy.typing import NDArray

from nous.domain.episode import NAMESPACE, CandidateFact, Category, Trust
from nous.domain.errors import BadInput
from nous.domain.fact import Confirmed, Learned, Linked, Row, Superseded
from nous.domain.scope import Scope
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.decision import FactDecision, LearnContext, fact_id
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.learn import ALREADY, NOT_COMPARED, RETOLD, learn
from nous.knowledge.verdict import Dedup, Policy

EMBEDDER = HashingEmbedder()
CONTEXT = LearnContext(scope=Scope(), source=source("first"), policy=Policy(near=0.5, one_sided=0.6), at=AT)


def teach(knowledge: FactIndex, *texts: str, session: str = "first") -> Sequence[FactDecision]:
    return taught(knowledge, *texts, session=session, policy=CONTEXT.policy)


def verdicts(decisions: Sequence[FactDecision]) -> list[str]:
    return [decision.verdict.name for decision in decisions]


def rows(decisions: Sequence[FactDecision]) -> list[Row]:
    return [row for decision in decisions for row in decision.rows]


def test_a_new_fact_is_learned_with_all_that_the_candidate_said() -> None:
    candidate = CandidateFact(
        text=" Tim likes tea ",
        category=Category.PREFERENCE,
        subject="Tim",
        confidence=0.7,
        turns=(3, 5),
        event_date="2026",
    )
    learning = learn([candidate], [*EMBEDDER.embed([candidate.text])], knowledge=nothing(), learn_context=CONTEXT)

    [row] = learning.rows
    assert isinstance(row, Learned)
    assert (row.fact.text, row.fact.category, row.fact.subject) == ("Tim likes tea", Category.PREFERENCE, "Tim")
    assert (row.fact.confidence, row.fact.event_date, row.fact.learned_at) == (0.7, "2026", AT)
    assert (row.fact.source.turns, row.fact.source.session_id) == ((3, 5), "first")
    assert row.fact.id == fact_id(CONTEXT.source.episode_id, "tim likes tea.")
    assert row.embedded_by == EMBEDDER.id
    assert np.array_equal(learning.vectors[row.fact.id], EMBEDDER.embed([candidate.text])[0])


def test_another_episode_confirms_once() -> None:
    knowledge = nothing()
    teach(knowledge, "Omar wrote the parser")

    second = teach(knowledge, "The parser was written by Omar", session="second")
    again = teach(knowledge, "The parser was written by Omar", session="second")

    [row] = rows(second)
    assert isinstance(row, Confirmed)
    assert (row.text, row.source.session_id, row.source.turns) == ("The parser was written by Omar", "second", (1,))
    assert (rows(again), again[0].verdict.reason) == ([], ALREADY)


def test_the_same_episode_again_adds_nothing() -> None:
    knowledge = nothing()
    texts = ("Tim likes tea", "The API is on port 8080", "The API is on port 8081", "The team uses Redis")
    teach(knowledge, *texts)
    teach(knowledge, "The team uses Redis for all queues", session="second")

    again = teach(knowledge, *texts)

    assert rows(again) == []
    assert verdicts(again) == ["known"] * 4


def test_candidates_of_one_batch_are_judged_against_each_other() -> None:
    learning = teach(nothing(), "Tim likes tea", "tim likes tea!", "The API is on port 1", "The API is on port 2")

    assert verdicts(learning) == ["new", "known", "new", "linked"]
    assert [type(row) for row in rows(learning)] == [Learned, Learned, Learned, Linked]


def test_a_richer_text_supersedes_and_its_poorer_one_still_leads_to_it() -> None:
    knowledge = nothing()
    teach(knowledge, "The team uses Postgres for everything")
    [richer] = teach(knowledge, "The team uses Postgres for everything in production", session="second")
    [poorer_again] = teach(knowledge, "The team uses Postgres for everything", session="third")

    [learned, superseded] = richer.rows
    assert isinstance(learned, Learned)
    assert isinstance(superseded, Superseded)
    assert superseded.by == learned.fact.id
    assert richer.replaced is not None
    assert richer.replaced.id == superseded.fact_id
    [confirmed] = poorer_again.rows
    assert isinstance(confirmed, Confirmed)
    assert confirmed.fact_id == learned.fact.id


@pytest.mark.parametrize("vector", [np.zeros(256), np.ones(256), np.eye(1, 64)[0]])
def test_a_vector_that_cannot_be_scored_is_refused(vector: np.ndarray) -> None:
    with pytest.raises(BadInput):
        learn([CandidateFact(text="tea")], [vector.astype(np.float32)], knowledge=nothing(), learn_context=CONTEXT)


def test_without_a_vector_equal_texts_are_known_and_others_wait_to_be_compared() -> None:
    knowledge = nothing()
    teach(knowledge, "Tim likes tea")

    learning = taught(knowledge, "tim likes tea.", "Tim is fond of tea", session="second", has_vector=False)

    assert verdicts(learning) == ["known", "new"]
    assert learning[1].verdict.reason == NOT_COMPARED
    assert [known.fact.text for known in knowledge.without_vector()] == ["Tim is fond of tea"]


BILLING = "Service billing runs on port 9017"


def retold(knowledge: FactIndex, *texts: str) -> Sequence[FactDecision]:
    """What a later edition of the first episode teaches."""
    later = replace(CONTEXT, source=replace(CONTEXT.source, event_id=uuid5(NAMESPACE, "another edition")))
    candidates = [CandidateFact(text=text, turns=(1,)) for text in texts]
    return learn(candidates, [*EMBEDDER.embed(texts)], knowledge=knowledge, learn_context=later).decisions


def test_a_later_edition_of_an_episode_takes_the_place_of_what_it_says_in_other_words() -> None:
    knowledge = nothing()
    teach(knowledge, BILLING)

    [decision] = retold(knowledge, f"{BILLING} behind the gateway of the second region")

    assert (decision.verdict.name, decision.verdict.reason) == ("richer", RETOLD)
    assert [type(row) for row in decision.rows] == [Learned, Superseded]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (BILLING, "Service billing never runs on port 9017"),
        (BILLING, "Service shipping runs on port 9017"),
        ("Service billing calls service shipping over HTTP", "Service shipping calls service billing over HTTP"),
        ("Use PostgreSQL 16 for the billing service in production", "Use PostgreSQL 16 for the billing service"),
    ],
)
def test_a_later_edition_that_says_something_else_leaves_what_was_said(old: str, new: str) -> None:
    knowledge = nothing()
    teach(knowledge, old)

    assert verdicts(retold(knowledge, new)) != ["richer"]


def test_what_another_episode_or_the_edition_itself_says_too_is_not_retold() -> None:
    knowledge, more = nothing(), "Use PostgreSQL 16 for the search service in production"
    for session in ("first", "second"):
        teach(knowledge, BILLING, session=session)
    teach(knowledge, more)

    assert retold(knowledge, f"{BILLING} behind the gateway of the second region")[0].verdict.reason != RETOLD
    assert retold(knowledge, more, f"{more} and in tests")[1].verdict.reason != RETOLD


TEA = "Tim likes tea"
learned = partial(fact_rows.learned, embedded_by=EMBEDDER.id)


def confirmed(session: str, text: str = "Tim enjoys tea") -> Confirmed:
    return Confirmed(fact_id=fact_rows.fact_id(TEA), source=source(session), text=text, reason="the same", at=NOON)


def vectors_of(rows: Sequence[Row]) -> dict[UUID, NDArray[np.float32]]:
    return {row.fact.id: EMBEDDER.embed([row.fact.text])[0] for row in rows if isinstance(row, Learned)}


def knowing(*rows: Row) -> FactIndex:
    knowledge = FactIndex(embedder_id=EMBEDDER.id, dim=EMBEDDER.dim)
    knowledge.extend(rows, vectors_of(rows))
    return knowledge


def near(knowledge: FactIndex, text: str) -> list[str]:
    return [found.statement.text for found in knowledge.near(EMBEDDER.embed([text])[0], 0.5)]


def test_sources_are_counted_once_each_and_their_words_lead_to_the_fact() -> None:
    knowledge = knowing(learned(TEA), *map(confirmed, ("second", "third", "second")))
    [known] = knowledge.revisions("tim enjoys tea")

    assert known.times_confirmed == 3
    assert known.said_as == ("Tim enjoys tea",) * 3
    assert known.was_said_in(source("third").episode_id)
    assert not known.was_said_in(source("fourth").episode_id)
    assert knowledge.revisions("tim loathes tea") == ()


def test_what_is_superseded_leads_to_its_successor_and_is_near_nothing() -> None:
    new = "Tim likes green tea"
    knowledge = knowing(learned(TEA), learned(new), superseded(TEA, by=new))

    assert [known.fact.text for known in knowledge.revisions("tim likes tea")] == [TEA, new]
    assert near(knowledge, TEA) == [new]
    assert [known.fact.text for known in knowledge.current()] == [new]
    assert [known.fact.text for known in knowledge] == [TEA, new]


def test_a_branch_sees_what_both_know_and_changes_only_itself() -> None:
    trunk = knowing(learned("Tim likes tea"))
    branch = trunk.fork()
    more = learned("Tim likes green tea")
    gone = superseded(TEA, by=more.fact.text)

    branch.extend([more, gone], vectors_of([more]))

    assert near(branch, "Tim likes tea") == ["Tim likes green tea"]
    assert [known.is_current for known in branch] == [False, True]
    assert near(trunk, "Tim likes tea") == ["Tim likes tea"]
    assert [known.is_current for known in trunk] == [True]


def test_the_newest_current_facts_of_a_subject_are_found_in_a_branch_and_below_it() -> None:
    rows = [learned(f"port {number}") for number in range(20)]
    about = [replace(row, fact=replace(row.fact, subject="The API")) for row in rows]
    trunk = knowing(*about[:18], learned("port of another"))
    branch = trunk.fork()

    gone = [superseded(f"port {at}", by="port 19") for at in (17, 18)]
    branch.extend([*about[18:], *gone], vectors_of(about[18:]))

    found = [statement.text for statement in branch.namesakes("the API.").values()]
    assert found == [f"port {number}" for number in (19, *reversed(range(2, 17)))]
    assert len(trunk.namesakes("The API")) == 16
    assert next(iter(trunk.namesakes("The API").values())).text == "port 17"
    assert branch.namesakes("") == {}


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
