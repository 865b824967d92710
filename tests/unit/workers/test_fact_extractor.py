"""The worker that learns facts."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from builders.contexts import context_over
from builders.episodes import HOME, episode
from builders.events import event_of
from builders.llm_stores import fake_counters
from builders.scripted_model import Answer, ScriptedModel
from builders.stores import WholeStore

from nous.domain.effects import AppendFacts, DegradedResult, Effects, SaveEpisode
from nous.domain.episode import CandidateFact, Episode
from nous.domain.events import EpisodeSummarized, Event, FactConfirmed, FactLearned, FactLinked
from nous.domain.fact import Fact, Learned, Row
from nous.domain.scope import Scope
from nous.domain.summary_input import Segment, SummaryInput
from nous.knowledge.verdict import Policy
from nous.llm.base import Failure, ModelMisconfigured, ModelPaused, ModelTimeout
from nous.pipeline.llm_fact_extractor import LlmFactExtractor
from nous.pipeline.worker import WorkerContext
from nous.summary.decisions import announcement
from nous.summary.llm.prompt import built_in
from workers.fact_extractor import NO_FACTS, WORKER

AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def store() -> WholeStore:
    return WholeStore()


@pytest.fixture
def context(store: WholeStore) -> WorkerContext:
    return context_over(store, clock=lambda: AT, policy=Policy(near=0.5, cap=5))


def summarized(*texts: str, session: str = "s1", **fields: Any) -> EpisodeSummarized:
    facts = tuple(CandidateFact(text=text, turns=(n,)) for n, text in enumerate(texts, start=1))
    known: dict[str, Any] = {"scope": Scope(), "candidate_facts": facts}
    made = episode(session, version="v")
    known |= {"time": AT, "session_id": session, "episode_id": made.id, "version": "v", "summary": made.summary}
    return event_of(EpisodeSummarized, f"event/{session}", **{**known, **fields})


def rows_in(effects: Effects) -> list[Row]:
    return [row for write in effects.writes if isinstance(write, AppendFacts) for row in write.rows]


def committed(context: WorkerContext, store: WholeStore, event: EpisodeSummarized) -> Sequence[Event]:
    """The events of a run whose writes went through."""
    effects = WORKER.handler_factory(context)(event)
    assert store.apply(effects.writes) is None
    return effects.events


def learned(store: WholeStore) -> list[Fact]:
    return [row.fact for row in store.read(Scope()).rows if isinstance(row, Learned)]


def test_what_an_episode_teaches_is_written_and_announced(context: WorkerContext, store: WholeStore) -> None:
    event = summarized("Tim likes tea", "The API is on port 8080")

    events = committed(context, store, event)

    assert [type(said) for said in events] == [FactLearned, FactLearned]
    assert [fact.text for fact in learned(store)] == ["Tim likes tea", "The API is on port 8080"]
    assert [said.id for said in events] == [event.next_id("fact-extractor", index) for index in range(2)]
    assert {said.caused_by for said in events} == {event.id}


def test_a_verdict_names_the_other_fact_and_the_reason(context: WorkerContext, store: WholeStore) -> None:
    [first] = committed(context, store, summarized("The API is on port 8080"))
    learned_too, linked, confirmed = committed(
        context, store, summarized("The API is on port 8081", "the api is on port 8080", session="s2")
    )

    assert isinstance(first, FactLearned)
    assert isinstance(learned_too, FactLearned)
    assert isinstance(linked, FactLinked)
    assert (linked.verdict, linked.other_fact_id) == ("linked", first.fact_id)
    assert "8081 / 8080" in linked.reason
    assert isinstance(confirmed, FactConfirmed)
    assert (confirmed.verdict, confirmed.fact_id, confirmed.turns) == ("known", first.fact_id, (2,))
    assert confirmed.episode_id == episode("s2").id
    assert confirmed.other_fact_id is None


@pytest.mark.parametrize("texts", [(), ("", " ", "...")])
def test_an_episode_without_candidates_is_skipped(context: WorkerContext, texts: tuple[str, ...]) -> None:
    effects = WORKER.handler_factory(context)(summarized(*texts))

    assert (effects.writes, effects.events, effects.skipped) == ((), (), NO_FACTS)


def test_a_second_delivery_is_skipped(context: WorkerContext, store: WholeStore) -> None:
    event = summarized("Tim likes tea", "The API is on port 8080", "The API is on port 8081")
    committed(context, store, event)

    effects = WORKER.handler_factory(context)(event)

    assert (rows_in(effects), effects.events, effects.skipped) == ([], (), "already learned")
    assert store.apply(effects.writes) is None


def test_what_is_already_learned_is_refused_where_the_log_has_lost_it_meanwhile(
    context: WorkerContext, store: WholeStore
) -> None:
    event = summarized("Tim likes tea")
    committed(context, store, event)

    effects = WORKER.handler_factory(context)(event)

    assert WholeStore().apply(effects.writes) is not None


def test_said_again_before_the_commit_it_says_the_same(context: WorkerContext) -> None:
    event = summarized("Tim likes tea", "The API is on port 8080")
    handler = WORKER.handler_factory(context)

    assert handler(event).events == handler(event).events


def test_after_a_refusal_it_judges_again_by_what_is_known_now(context: WorkerContext, store: WholeStore) -> None:
    stale = WORKER.handler_factory(context)(summarized("Tim likes tea"))
    committed(context, store, summarized("Tim likes tea", session="s2"))

    assert store.apply(stale.writes) is not None
    [event] = committed(context, store, summarized("Tim likes tea"))
    assert isinstance(event, FactConfirmed)


SAID = "[User] From now on, never run the import of prices on Fridays."
BRIEF = SummaryInput(
    windows=((Segment(SAID, "User", 1), Segment("[Assistant] Billing listens on port 9017.", "Assistant", 2)),)
)
PORT = "Billing listens on port 9017."
POINT = "The import of prices never runs on Fridays."


def answer(*texts: str) -> str:
    facts = [
        {"text": text, "category": "technical", "confidence": 0.9, "quotes": [{"turn": 2, "quote": PORT}]}
        for text in texts
    ]
    return orjson.dumps({"candidate_facts": facts}).decode()


def extracted(
    *answers: Answer, brought: tuple[str, ...] = (), stored: Episode | None = None
) -> tuple[Effects, ScriptedModel]:
    """What follows from an episode that has *brought* facts, and the model that was asked."""
    store, model = WholeStore(), ScriptedModel(answers)
    kept = stored or episode("s1", scope=HOME)
    store.apply([SaveEpisode(episode=kept, summary_input=BRIEF)])
    extractor = LlmFactExtractor(prompt=built_in("facts"), model=model, counters=fake_counters())
    context = context_over(store, clock=lambda: AT, fact_extractor=extractor)
    said = announcement(kept, cause=summarized(scope=HOME), by="episode-summarizer", at=AT)
    event = replace(said, candidate_facts=tuple(CandidateFact(text=text) for text in brought))
    return WORKER.handler_factory(context)(event), model


def told(effects: Effects) -> list[str]:
    return [event.text for event in effects.events if isinstance(event, FactLearned)]


def test_an_episode_that_brings_facts_costs_no_call() -> None:
    effects, model = extracted(brought=("Tim likes tea",))

    assert told(effects) == ["Tim likes tea"]
    assert model.questions == ()


@pytest.mark.parametrize("brought", [(), ("", " ", "...")])
def test_an_episode_without_usable_facts_is_read_again_in_one_call(brought: tuple[str, ...]) -> None:
    effects, model = extracted(answer(PORT), brought=brought)

    assert told(effects) == [PORT]
    assert len(model.questions) == 1


def with_point(text: str) -> Episode:
    """An episode whose summary has one key point."""
    made = episode("s1", scope=HOME)
    return replace(made, summary=replace(made.summary, key_points=(text,)))


def test_a_call_that_failed_is_made_again_and_at_the_last_attempt_the_summary_speaks_for_itself() -> None:
    with pytest.raises(DegradedResult) as failed:
        extracted(ModelTimeout("too slow"), stored=with_point(POINT))

    assert told(failed.value.effects) == [POINT]


def test_a_model_that_is_out_is_waited_for() -> None:
    pause = ModelPaused("out", until=AT, since=AT, failure=Failure.TRANSPORT)

    with pytest.raises(ModelPaused):
        extracted(pause)


def test_a_model_that_answers_nobody_is_done_without() -> None:
    effects, _ = extracted(ModelMisconfigured("the key is refused"), stored=with_point(POINT))

    assert told(effects) == [POINT]
