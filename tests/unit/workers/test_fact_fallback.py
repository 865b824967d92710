"""An episode that brings facts costs no call; one that brings none is read again, and never silently has none."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import orjson
import pytest
from builders.contexts import context_over
from builders.episodes import HOME, episode
from builders.llm_stores import fake_counters

from nous.domain.effects import DegradedResult, Effects, SaveEpisode
from nous.domain.episode import CandidateFact, Episode
from nous.domain.events import Event, FactLearned, FactsUnembedded
from nous.domain.summary_input import Segment, SummaryInput
from nous.llm.base import Failure, ModelMisconfigured, ModelPaused, ModelTimeout
from nous.llm.fake import Answer, ScriptedModel
from nous.pipeline.llm_fact_extractor import LlmFactExtractor
from nous.store.memory import MemoryStore
from nous.summary.decisions import announcement
from nous.summary.llm.prompt import built_in
from nous.transcript.model import Transcript
from workers.fact_extractor import NO_FACTS, WORKER

AT = datetime(2026, 1, 1, tzinfo=UTC)
SAID = "[User] From now on, never run the import of prices on Fridays."
BRIEF = SummaryInput(
    windows=((Segment(SAID, "User", 1), Segment("[Assistant] Billing listens on port 9017.", "Assistant", 2)),)
)
PORT = "Billing listens on port 9017."


class NoTranscripts:
    def read(self, event: Event) -> Transcript:
        raise AssertionError(f"no transcript is needed for {event.id}")


def answer(*texts: str) -> str:
    facts = [{"text": text, "category": "technical", "confidence": 0.9, "turns": [2]} for text in texts]
    return orjson.dumps({"candidate_facts": facts}).decode()


def extracted(
    *answers: Answer, brought: tuple[str, ...] = (), stored: Episode | None = None
) -> tuple[Effects, ScriptedModel]:
    """What follows from an episode that has *brought* facts, and the model that was asked."""
    store, model = MemoryStore(), ScriptedModel(answers)
    kept = stored or episode("s1", scope=HOME)
    store.apply([SaveEpisode(episode=kept, summary_input=BRIEF)])
    extractor = LlmFactExtractor(prompt=built_in("facts"), model=model, counters=fake_counters())
    context = context_over(store, transcripts=NoTranscripts(), clock=lambda: AT, fact_extractor=extractor)
    cause = FactsUnembedded(
        id=UUID(int=1), time=AT, source="tests", scope=HOME, agent_id="a", session_id="s1", trace_id=UUID(int=1)
    )
    told = announcement(kept, cause=cause, by="episode-summarizer", at=AT)
    event = replace(told, candidate_facts=tuple(CandidateFact(text=text) for text in brought))
    return WORKER.handler_factory(context)(event), model


def learned(effects: Effects) -> list[str]:
    return [event.text for event in effects.events if isinstance(event, FactLearned)]


def test_an_episode_that_brings_facts_costs_no_call() -> None:
    effects, model = extracted(brought=("Tim likes tea",))

    assert learned(effects) == ["Tim likes tea"]
    assert model.questions == ()


@pytest.mark.parametrize("brought", [(), ("", " ", "...")])
def test_an_episode_without_usable_facts_is_read_again_in_one_call(brought: tuple[str, ...]) -> None:
    effects, model = extracted(answer(PORT), brought=brought)

    assert learned(effects) == [PORT]
    assert len(model.questions) == 1


def test_a_call_that_failed_is_made_again_and_at_the_last_attempt_the_session_speaks_for_itself() -> None:
    with pytest.raises(DegradedResult) as failed:
        extracted(ModelTimeout("too slow"))

    assert any("Fridays" in text for text in learned(failed.value.effects))


def test_a_model_that_is_out_is_waited_for() -> None:
    pause = ModelPaused("out", until=AT, since=AT, failure=Failure.TRANSPORT)

    with pytest.raises(ModelPaused):
        extracted(pause)


def test_a_model_that_answers_nobody_is_done_without() -> None:
    effects, _ = extracted(ModelMisconfigured("the key is refused"))

    assert any("Fridays" in text for text in learned(effects))


def test_that_there_is_nothing_to_learn_is_said() -> None:
    effects, _ = extracted(answer())

    assert effects.skipped == NO_FACTS
