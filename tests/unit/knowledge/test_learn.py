"""From candidates to rows."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid5

import numpy as np
import pytest

from nous.domain.episode import CandidateFact, Category
from nous.domain.errors import BadInput
from nous.domain.events import NAMESPACE
from nous.domain.fact import Confirmed, Learned, Linked, Source, Superseded
from nous.domain.scope import Scope
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.decision import LearnContext, LearnDecisions, fact_id
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.learn import ALREADY, NOT_COMPARED, RETOLD, learn
from nous.knowledge.verdict import Policy

EMBEDDER = HashingEmbedder()
POLICY = Policy(near=0.5, one_sided=0.6)
AT = datetime(2026, 1, 1, tzinfo=UTC)


def nothing() -> FactIndex:
    return FactIndex(embedder_id=EMBEDDER.id, dim=EMBEDDER.dim)


def learn_context(episode: str = "first") -> LearnContext:
    source = Source(
        episode_id=uuid5(NAMESPACE, episode),
        event_id=uuid5(NAMESPACE, f"event of {episode}"),
        session_id=episode,
        turns=(),
    )
    return LearnContext(scope=Scope(), source=source, policy=POLICY, at=AT)


def taught(knowledge: FactIndex, *texts: str, episode: str = "first") -> LearnDecisions:
    """What *episode* teaches; *knowledge* then holds it."""
    candidates = [CandidateFact(text=text, turns=(number,)) for number, text in enumerate(texts, start=1)]
    learning = learn(candidates, [*EMBEDDER.embed(texts)], knowledge=knowledge, learn_context=learn_context(episode))
    knowledge.extend(learning.rows, learning.vectors)
    return learning


def verdicts(learning: LearnDecisions) -> list[str]:
    return [fact_decision.verdict.name for fact_decision in learning.decisions]


def test_a_new_fact_is_learned_with_all_that_the_candidate_said() -> None:
    candidate = CandidateFact(
        text=" Tim likes tea ",
        category=Category.PREFERENCE,
        subject="Tim",
        confidence=0.7,
        turns=(3, 5),
        event_date="2026",
    )
    learning = learn(
        [candidate], [*EMBEDDER.embed([candidate.text])], knowledge=nothing(), learn_context=learn_context()
    )

    [row] = learning.rows
    assert isinstance(row, Learned)
    assert (row.fact.text, row.fact.category, row.fact.subject) == ("Tim likes tea", Category.PREFERENCE, "Tim")
    assert (row.fact.confidence, row.fact.event_date, row.fact.learned_at) == (0.7, "2026", AT)
    assert row.fact.source.turns == (3, 5)
    assert row.fact.source.session_id == "first"
    assert row.fact.id == fact_id(learn_context().source.episode_id, "tim likes tea.")
    assert row.embedded_by == EMBEDDER.id
    assert np.array_equal(learning.vectors[row.fact.id], EMBEDDER.embed([candidate.text])[0])


def test_another_episode_confirms_once() -> None:
    knowledge = nothing()
    taught(knowledge, "Tim likes tea")

    second = taught(knowledge, "Tim likes tea.", episode="second")
    again = taught(knowledge, "Tim likes tea", episode="second")

    [row] = second.rows
    assert isinstance(row, Confirmed)
    assert (row.text, row.source.session_id, row.source.turns) == ("Tim likes tea.", "second", (1,))
    assert second.vectors == {}
    assert again.rows == ()
    assert [fact_decision.verdict.reason for fact_decision in again.decisions] == [ALREADY]


def test_the_same_episode_again_adds_nothing() -> None:
    knowledge = nothing()
    texts = ("Tim likes tea", "The API is on port 8080", "The API is on port 8081", "The team uses Redis")
    taught(knowledge, *texts)

    again = taught(knowledge, *texts)

    assert again.rows == ()
    assert verdicts(again) == ["known"] * 4


def test_an_episode_that_only_confirmed_adds_nothing_when_it_comes_again() -> None:
    knowledge = nothing()
    taught(knowledge, "Omar wrote the parser")
    first = taught(knowledge, "The parser was written by Omar", episode="second")
    again = taught(knowledge, "The parser was written by Omar", episode="second")

    assert verdicts(first) == ["known"]
    assert len(first.rows) == 1
    assert again.rows == ()


def test_candidates_of_one_batch_are_judged_against_each_other() -> None:
    learning = taught(nothing(), "Tim likes tea", "tim likes tea!", "The API is on port 1", "The API is on port 2")

    assert verdicts(learning) == ["new", "known", "new", "linked"]
    assert [type(row) for row in learning.rows] == [Learned, Learned, Learned, Linked]


def test_a_richer_text_supersedes_and_its_poorer_one_still_leads_to_it() -> None:
    knowledge = nothing()
    taught(knowledge, "The team uses Postgres for everything")
    richer = taught(knowledge, "The team uses Postgres for everything in production", episode="second")
    poorer_again = taught(knowledge, "The team uses Postgres for everything", episode="third")

    [learned, superseded] = richer.rows
    assert isinstance(learned, Learned)
    assert isinstance(superseded, Superseded)
    assert superseded.by == learned.fact.id
    [fact_decision] = richer.decisions
    assert fact_decision.replaced is not None
    assert fact_decision.replaced.id == superseded.fact_id
    [confirmed] = poorer_again.rows
    assert isinstance(confirmed, Confirmed)
    assert confirmed.fact_id == learned.fact.id


def test_the_episode_of_a_superseded_fact_adds_nothing_when_it_comes_again() -> None:
    knowledge = nothing()
    taught(knowledge, "The team uses Postgres for everything")
    taught(knowledge, "The team uses Postgres for everything in production", episode="second")

    again = taught(knowledge, "The team uses Postgres for everything")

    assert again.rows == ()
    assert [fact_decision.verdict.reason for fact_decision in again.decisions] == [ALREADY]


def test_a_contradiction_is_kept_and_linked() -> None:
    knowledge = nothing()
    first = taught(knowledge, "The API is on port 8080")
    second = taught(knowledge, "The API is on port 8081", episode="second")

    [_, link] = second.rows
    assert isinstance(link, Linked)
    assert link.other == first.decisions[0].fact.id
    assert "8081 / 8080" in link.reason
    assert len(list(knowledge.current())) == 2


def test_judging_leaves_the_knowledge_as_it_was() -> None:
    knowledge = nothing()
    learn([CandidateFact(text="tea")], [*EMBEDDER.embed(["tea"])], knowledge=knowledge, learn_context=learn_context())

    assert list(knowledge) == []


@pytest.mark.parametrize("vector", [np.zeros(256), np.ones(256), np.eye(1, 64)[0]])
def test_a_vector_that_cannot_be_scored_is_refused(vector: np.ndarray) -> None:
    with pytest.raises(BadInput):
        learn(
            [CandidateFact(text="tea")], [vector.astype(np.float32)], knowledge=nothing(), learn_context=learn_context()
        )


def test_without_a_vector_equal_texts_are_known_and_others_wait_to_be_compared() -> None:
    knowledge = nothing()
    taught(knowledge, "Tim likes tea")
    candidates = [CandidateFact(text=text) for text in ("tim likes tea.", "Tim is fond of tea")]

    learning = learn(candidates, [None, None], knowledge=knowledge, learn_context=learn_context("second"))
    knowledge.extend(learning.rows, learning.vectors)

    assert verdicts(learning) == ["known", "new"]
    assert learning.decisions[1].verdict.reason == NOT_COMPARED
    assert learning.vectors == {}
    assert [known.fact.text for known in knowledge.without_vector()] == ["Tim is fond of tea"]


def retold(knowledge: FactIndex, *texts: str) -> LearnDecisions:
    """What a later edition of the first episode teaches."""
    at = learn_context()
    later = replace(at, source=replace(at.source, event_id=uuid5(NAMESPACE, "another edition")))
    candidates = [CandidateFact(text=text, turns=(1,)) for text in texts]
    return learn(candidates, [*EMBEDDER.embed(texts)], knowledge=knowledge, learn_context=later)


def test_a_later_edition_of_an_episode_takes_the_place_of_what_it_says_in_other_words() -> None:
    knowledge = nothing()
    taught(knowledge, "Always run service billing on port 9017")

    learning = retold(knowledge, "Service billing always runs on port 9017")

    [fact_decision] = learning.decisions
    assert (fact_decision.verdict.name, fact_decision.verdict.reason) == ("richer", RETOLD)
    assert [type(row) for row in learning.rows] == [Learned, Superseded]


@pytest.mark.parametrize(
    "text",
    [
        "Service billing always runs on port 9018",
        "Service billing never runs on port 9017",
        "Service shipping always runs on port 9017",
    ],
)
def test_a_later_edition_that_says_something_else_leaves_what_was_said(text: str) -> None:
    knowledge = nothing()
    taught(knowledge, "Always run service billing on port 9017")

    [fact_decision] = retold(knowledge, text).decisions

    assert fact_decision.verdict.name in {"linked", "new"}


def test_what_another_episode_has_said_too_is_not_retold_by_one_of_them() -> None:
    knowledge = nothing()
    taught(knowledge, "Always run service billing on port 9017")
    taught(knowledge, "Always run service billing on port 9017", episode="second")

    [fact_decision] = retold(knowledge, "Service billing always runs on port 9017").decisions

    assert fact_decision.verdict.name == "linked"


def test_a_later_edition_that_says_less_or_says_both_leaves_what_was_said() -> None:
    knowledge = nothing()
    more = "Use PostgreSQL 16 for the billing service in production"
    taught(knowledge, more)

    assert verdicts(retold(knowledge, "Use PostgreSQL 16 for the billing service")) != ["richer"]
    assert retold(knowledge, more, f"{more} and in tests").decisions[1].verdict.reason != RETOLD


def test_a_later_edition_that_turns_things_round_leaves_what_was_said() -> None:
    knowledge = nothing()
    taught(knowledge, "Service billing calls service shipping over HTTP")

    [fact_decision] = retold(knowledge, "Service shipping calls service billing over HTTP").decisions

    assert fact_decision.verdict.name == "linked"
