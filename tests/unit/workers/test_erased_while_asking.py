"""A session of which something is forgotten: no answer that comes later, and no later turn, brings it back."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from builders.answers import GOOD, SESSION, answer
from builders.contexts import context_over
from builders.model_world import ModelWorld

from nous.domain.effects import Effects, SaveEpisode
from nous.domain.events import EpisodeSummarized
from nous.domain.scope import Scope
from nous.excerpt import Windows, windows
from nous.knowledge.normalize import exact_form
from nous.llm.base import Question
from nous.pipeline.worker import WorkerContext
from nous.runtime.maintenance import outdated
from nous.store.keys import StoreKeys
from nous.store.transcript_source import StoredTranscripts
from nous.transcript.model import Transcript
from workers.episode_reviser import WORKER as REVISER
from workers.episode_summarizer import WORKER as SUMMARIZER
from workers.fact_extractor import FORGOTTEN
from workers.fact_extractor import WORKER as EXTRACTOR
from workers.session_anchorer import WORKER as ANCHORER

LONG = "\n\n".join(
    f"User: Please set service number {turn} to port {9000 + turn}, and tell me when you have done so, thanks.\n\n"
    f"Assistant: Service number {turn} listens on port {9000 + turn} from now on, and its check passes."
    for turn in range(1, 61)
)


def anchor(_: Question) -> str:
    return orjson.dumps({"intent": ["Set ports."]}).decode()


def summary(_: Question) -> str:
    return answer(candidate_facts=[])


def useless_at_first(question: Question) -> str:
    return answer(candidate_facts=[]) if question.earlier else "Tea."


def ended(world: ModelWorld, context: WorkerContext) -> None:
    SUMMARIZER.handler_factory(context)(world.publish(text=LONG))


def compacting(world: ModelWorld, context: WorkerContext) -> None:
    ANCHORER.handler_factory(context)(world.compact(LONG))


@pytest.mark.parametrize(
    ("work", "answers"),
    [(ended, summary), (compacting, anchor), (ended, useless_at_first)],
    ids=["the next window", "the next window of an anchor", "asked again"],
)
@pytest.mark.parametrize("moment", ["once it is read", "while the model answers", "never"])
def test_no_answer_about_what_was_forgotten_since_it_was_read_is_kept(
    work: Callable[[ModelWorld, WorkerContext], None], answers: Callable[[Question], str], moment: str
) -> None:
    def answered(question: Question) -> str:
        if moment == "while the model answers" and len(world.model.questions) == 1:
            world.books.responses.invalidate(Scope())
        return answers(question)

    def excerpts(transcript: Transcript) -> Windows:
        if moment == "once it is read":
            world.books.responses.invalidate(Scope())
        return windows(transcript, budget=800, most=4)

    world = ModelWorld(answered)
    transcripts = StoredTranscripts(world.store, StoreKeys())
    context = context_over(
        world.store,
        transcripts=transcripts,
        clock=world.date,
        summarizer=world.summarizer(),
        excerpts=excerpts,
        cache_subject=world.matter,
    )

    work(world, context)

    asked = world.model.questions
    assert len(asked) > 1
    kept = [world.books.responses.find(question, world.model.id) is not None for question in asked]
    assert kept == [moment == "never"] * len(asked)


FORM = exact_form(GOOD["candidate_facts"][0]["text"])


def forms(_: Scope) -> set[str]:
    return {FORM}


def forgetful(world: ModelWorld) -> WorkerContext:
    return replace(world.context, suppressed=forms)


def grown(world: ModelWorld) -> Effects:
    """The same session, which has gone on, is summarised."""
    event = world.publish(text=f"{SESSION}\n\nAssistant: You are welcome, any time.")
    return SUMMARIZER.handler_factory(forgetful(world))(event)


def revised(world: ModelWorld) -> Effects:
    """Regenerate its episode with another prompt."""
    (episode,) = world.episodes
    world.use(world.summarizer(version="episode-next"))
    event = outdated(episode, by="scripted:model episode-next", reason="test", context=world.context)
    return REVISER.handler_factory(forgetful(world))(event)


@pytest.fixture(params=[grown, revised])
def made_again(request: pytest.FixtureRequest) -> Callable[[ModelWorld], Effects]:
    return request.param


@pytest.fixture
def world() -> ModelWorld:
    world = ModelWorld()
    world.publish()
    world.work()
    (episode,) = world.episodes
    assert [exact_form(fact.text) for fact in episode.candidate_facts] == [FORM]
    return world


def test_an_episode_that_is_made_again_has_no_candidate_that_was_forgotten(
    world: ModelWorld, made_again: Callable[[ModelWorld], Effects]
) -> None:
    effects = made_again(world)

    [saved] = [write for write in effects.writes if isinstance(write, SaveEpisode)]
    [said] = effects.events
    assert isinstance(said, EpisodeSummarized)
    assert (saved.episode.candidate_facts, said.candidate_facts) == ((), ())
    assert dict(saved.episode.dropped_facts) == {"was forgotten on request": 1}


def test_an_episode_whose_candidates_were_all_forgotten_is_not_read_again_for_some(
    world: ModelWorld, made_again: Callable[[ModelWorld], Effects]
) -> None:
    effects = made_again(world)
    assert world.store.apply(effects.writes) is None
    said: Any = effects.events[0]
    asked = len(world.model.questions)

    learned = EXTRACTOR.handler_factory(forgetful(world))(said)

    assert (learned.events, learned.skipped) == ((), FORGOTTEN)
    assert len(world.model.questions) == asked
