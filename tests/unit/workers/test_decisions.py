"""What was decided in a session is kept with its episode, told to the model, and never in the way."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from builders.answers import SESSION
from builders.contexts import Shelf, context_over
from builders.model_world import ModelWorld, event_of

from nous.domain.episode import Category, Decision
from nous.domain.errors import Unavailable
from nous.domain.event_codec import decode
from nous.domain.events import DecisionRecorded, SessionEnded
from nous.domain.scope import Scope
from nous.store.keys import StoreKeys
from nous.store.transcript_source import StoredTranscripts
from nous.summary.decisions import MOST, decided_facts
from workers.decision_keeper import SAYS_NOTHING
from workers.episode_summarizer import WORKER

LINE = "- [tool/high] Billing keeps Postgres, since MySQL lost rows (confidence: 0.8)"


def record(world: ModelWorld, description: str, **fields: Any) -> None:
    told = {"time": world.date(), "description": description, **fields}
    world.bus.publish(event_of(DecisionRecorded, description, **told))


def test_recorded_decisions_are_told_to_the_model_and_stay_with_the_episode() -> None:
    world = ModelWorld()
    record(world, "Billing keeps Postgres, since MySQL lost rows", category="tool", stakes="high", confidence=0.8)
    world.work()

    world.publish()
    world.work()

    assert f"Decisions made during this episode:\n{LINE}\n" in world.model.questions[0].user
    (episode,) = world.episodes
    assert [decision.line for decision in episode.decisions] == [LINE]
    fact = episode.candidate_facts[0]
    assert (fact.text, fact.category) == ("Billing keeps Postgres, since MySQL lost rows", Category.DECISION)


def test_without_decisions_nothing_is_said_of_them() -> None:
    world = ModelWorld()
    world.publish()
    world.work()

    assert "Decisions made" not in world.model.questions[0].user


def test_decisions_may_travel_with_the_session_s_end() -> None:
    world = ModelWorld()
    world.publish(
        decisions=({"category": "tool", "stakes": "low", "description": "Use uv", "confidence": 0.9}, {"oops": 1})
    )
    world.work()

    assert "- [tool/low] Use uv (confidence: 0.9)" in world.model.questions[0].user


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (
            '["Use uv", {"description": "Use make", "confidence": 7}, 3, null, {"description": " "}]',
            ["Use uv", "Use make"],
        ),
        ('"Use uv"', ["Use uv"]),
        ("{}", []),
        ("null", []),
    ],
)
def test_a_decision_that_cannot_be_read_costs_itself_and_not_the_session(said: str, read: Sequence[str]) -> None:
    raw = f'{{"data": {{"session_id": "s1", "transcript": "User: hi", "decisions": {said}}}}}'

    event = decode(raw, type_hint="session_ended")

    assert isinstance(event, SessionEnded)
    assert [decision.description for decision in event.decided] == read


def test_what_the_transcript_shows_the_user_deciding_counts_as_well(told: Any) -> None:
    world = ModelWorld()
    transcript = told(
        ("user", "Please write the licence file for this project, would you?"),
        ("decision", "Rejected Write(LICENSE): use Entire Inc. as the holder"),
        ("assistant", "I use Entire Inc. as the holder then, and write it anew."),
    )
    context = context_over(world.store, transcripts=Shelf(transcript), clock=world.date, summarizer=world.summarizer())

    WORKER.handler_factory(context)(world.publish())

    assert "- [rejection/unstated] The user rejected Write(LICENSE)" in world.model.questions[0].user


class _Broken:
    def get_episode_decisions(self, _: UUID, *, scope: Scope) -> Sequence[Decision]:
        raise Unavailable(f"nobody answers for {scope}")


def test_failing_to_learn_of_decisions_holds_nothing_up() -> None:
    world = ModelWorld()
    transcripts = StoredTranscripts(world.store, StoreKeys())
    context = context_over(
        world.store,
        transcripts=transcripts,
        clock=world.date,
        summarizer=world.summarizer(),
        decisions=_Broken(),
    )

    effects = WORKER.handler_factory(context)(world.publish(text=SESSION))

    assert len(effects.events) == 1
    assert len(world.model.questions) == 1


def test_the_same_decision_twice_is_one() -> None:
    world = ModelWorld()
    for _ in range(2):
        record(world, "Use uv")
        world.work()
    world.publish()
    world.work()

    (episode,) = world.episodes
    assert [decision.description for decision in episode.decisions] == ["Use uv"]


def test_of_many_decisions_the_newest_become_facts() -> None:
    recorded = [
        Decision(description=f"Billing listens on port {9000 + number}", confidence=0.9) for number in range(50)
    ]

    facts = [fact.text for fact in decided_facts(recorded)]

    assert facts == [decision.description for decision in recorded[-MOST:]]


def test_a_decision_without_words_is_skipped() -> None:
    world = ModelWorld()
    record(world, "   ")
    world.work()

    assert world.account("decision-keeper").skipped == {SAYS_NOTHING: 1}
