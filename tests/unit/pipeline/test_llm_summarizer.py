"""A session that a model understands: what it is asked, what is let through, and what that has cost."""

from functools import partial

from builders.answers import GOOD, answer
from builders.contexts import context_over
from builders.model_world import ModelWorld

from nous.domain.episode import Outcome
from nous.excerpt import windows
from nous.llm.base import Question
from nous.store.keys import StoreKeys
from nous.store.transcript_source import StoredTranscripts
from workers.episode_summarizer import WORKER

LONG = "\n\n".join(
    f"User: Please set service number {turn} to port {9000 + turn}, and tell me when you have done so, thanks.\n\n"
    f"Assistant: Service number {turn} listens on port {9000 + turn} now, and its check passes."
    for turn in range(1, 61)
)


def fact(text: str, *turns: int, **fields: object) -> dict[str, object]:
    return {**GOOD["candidate_facts"][0], "text": text, "turns": list(turns), **fields}


def summarized(world: ModelWorld, text: str | None = None) -> None:
    world.publish(**({"text": text} if text else {}))
    world.work()


def test_facts_that_the_session_does_not_say_are_dropped_and_counted() -> None:
    world = ModelWorld(
        lambda _: answer(
            candidate_facts=[
                fact("Service billing always runs on port 9017.", 1),
                fact("Service billing always runs on port 9999.", 1),
                fact("The Quillfeather importer needs its staging database on port 6543.", 1),
                fact("service billing ALWAYS runs on port 9017", 1),
            ]
        )
    )

    summarized(world)

    (episode,) = world.episodes
    assert [each.text for each in episode.candidate_facts] == ["Service billing always runs on port 9017."]
    assert sum(count for _, count in episode.dropped_facts) == 3
    assert len(dict(episode.dropped_facts)) == 3


def test_a_long_session_is_understood_window_by_window_each_told_what_came_before() -> None:
    def titled(_: Question) -> str:
        number = len(world.model.questions)
        return answer(
            title=f"Title of part {number} of the long session",
            summary=f"The story up to part {number}.",
            outcome="partial" if number == 1 else "resolved",
            key_points=[f"Lesson number {number} about services and their ports, told once."],
            candidate_facts=[],
        )

    world = ModelWorld(titled)
    summarizer = world.summarizer()
    context = context_over(
        world.store,
        transcripts=StoredTranscripts(world.store, StoreKeys()),
        clock=world.date,
        summarizer=summarizer,
        excerpts=partial(windows, budget=800, most=4),
    )

    effects = WORKER.handler_factory(context)(world.publish(text=LONG))
    world.store.apply(effects.writes)

    (episode,) = world.episodes
    assert len(world.model.questions) == episode.windows > 1
    assert "in short" not in world.model.questions[0].user
    assert "The story up to part 1." in world.model.questions[1].user
    assert episode.summary.title == "Title of part 1 of the long session"
    assert episode.summary.summary == f"The story up to part {episode.windows}."
    assert episode.summary.outcome is Outcome.RESOLVED
    assert len(episode.summary.key_points) == episode.windows


def test_an_answer_that_tells_of_the_prompt_s_example_is_asked_for_again() -> None:
    world = ModelWorld(
        lambda question: answer() if question.earlier else answer(summary="The Quillfeather importer was fixed.")
    )

    summarized(world)

    (episode,) = world.episodes
    assert episode.summary.summary == GOOD["summary"]
    assert "example" in world.model.questions[1].earlier[0].complaint


def test_a_session_may_speak_of_what_the_example_is_called() -> None:
    world = ModelWorld(lambda _: answer(summary="The Quillfeather importer was fixed."))

    summarized(world, "User: Please fix the Quillfeather importer, which fails on Mondays.\n\nAssistant: It is fixed.")

    assert world.tiers == ["llm"]
    assert len(world.model.questions) == 1
