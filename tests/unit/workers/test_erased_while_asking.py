"""A session whose answers are forgotten while it is worked on: none that a model gives later is kept."""

from collections.abc import Callable

import orjson
import pytest
from builders.answers import answer
from builders.contexts import context_over
from builders.model_world import ModelWorld

from nous.domain.scope import Scope
from nous.excerpt import Windows, windows
from nous.llm.base import Question
from nous.pipeline.worker import WorkerContext
from nous.store.keys import StoreKeys
from nous.store.transcript_source import StoredTranscripts
from nous.transcript.model import Transcript
from workers.episode_summarizer import WORKER as SUMMARIZER
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
