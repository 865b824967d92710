"""What was decided in a session is kept with its episode, told to the model, and never in the way."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from builders.answers import SESSION
from builders.contexts import Shelf, context_over
from builders.events import event_of
from builders.model_world import ModelWorld

from nous.domain.episode import Category, Decision
from nous.domain.errors import Unavailable
from nous.domain.events import DecisionRecorded
from nous.domain.scope import Scope
from nous.store.keys import StoreKeys
from nous.store.transcript_source import StoredTranscripts
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
        world.store, transcripts=transcripts, clock=world.date, summarizer=world.summarizer(), decisions=_Broken()
    )

    effects = WORKER.handler_factory(context)(world.publish(text=SESSION))

    assert len(effects.events) == 1
    assert len(world.model.questions) == 1
