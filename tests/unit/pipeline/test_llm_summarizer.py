"""A session that a model understands: what it is asked, what is let through, and what that has cost."""

from dataclasses import replace
from functools import partial
from uuid import UUID

import pytest
from builders.answers import GOOD, SESSION, answer
from builders.contexts import context_over
from builders.model_world import ModelWorld
from builders.scripted_model import ScriptedModel

from nous.domain.episode import Outcome
from nous.domain.scope import CacheSubject, Scope
from nous.domain.summary_input import Segment, SummaryInput
from nous.excerpt import windows
from nous.llm.base import Question
from nous.store.keys import StoreKeys
from nous.store.transcript_source import StoredTranscripts
from nous.summary.llm.evidence import Unsupported
from workers.episode_summarizer import WORKER

LONG = "\n\n".join(
    f"User: Please set service number {turn} to port {9000 + turn}, and tell me when you have done so, thanks.\n\n"
    f"Assistant: Service number {turn} listens on port {9000 + turn} now, and its check passes."
    for turn in range(1, 61)
)

LESSONS = {"first": "Checks pass.", "second": "Ports differ.", "third": "Services listen.", "fourth": "Thanks matter."}
PARTS = tuple(LESSONS)
PORT = "Service billing always runs on port 9017."
MATTER = CacheSubject(Scope(), UUID(int=1))


def fact(text: str, *turns: int, **fields: object) -> dict[str, object]:
    known = {name: value for name, value in GOOD["candidate_facts"][0].items() if name != "quotes"}
    return {**known, "text": text, "turns": list(turns), **fields}


def summarized(world: ModelWorld, text: str | None = None) -> None:
    world.publish(**({"text": text} if text else {}))
    world.work()


def test_facts_that_the_session_does_not_say_are_dropped_and_counted() -> None:
    world = ModelWorld(
        lambda _: answer(
            candidate_facts=[
                fact("Service billing always runs on port 9017.", 1),
                fact("Service billing always runs on port 9999.", 1),
                fact("The importer needs its staging database.", 1),
                fact("service billing ALWAYS runs on port 9017", 1),
            ]
        )
    )

    summarized(world)

    (episode,) = world.episodes
    assert [each.text for each in episode.candidate_facts] == ["Service billing always runs on port 9017."]
    assert sum(count for _, count in episode.dropped_facts) == 3
    assert len(dict(episode.dropped_facts)) == 3


@pytest.mark.parametrize(
    "second",
    ["I would rather talk about the weather.", answer(candidate_facts=[]), None],
    ids=["of no use", "without facts", "with all quotes"],
)
def test_a_fact_without_a_quote_is_asked_for_once_more_and_no_quoted_one_is_lost(second: str | None) -> None:
    sure, bare = fact(PORT, 1), "Invoices are printed in Oslo."
    first = answer(candidate_facts=[sure, fact(bare, quotes=[{"turn": 2, "quote": "Oslo prints them"}])])
    better = second or answer(candidate_facts=[sure, fact(bare, 2)])
    world = ModelWorld(lambda question: better if question.earlier else first)

    summarized(world, f"{SESSION} Invoices are printed in Oslo.")

    (episode,) = world.episodes
    assert len(world.model.questions) == 2
    assert "no quote that stands in the turn it names: 2." in world.model.questions[1].earlier[0].complaint
    assert world.tiers == ["llm"]
    assert [each.text for each in episode.candidate_facts] == ([PORT] if second else [PORT, bare])
    assert dict(episode.dropped_facts) == ({Unsupported.NOT_QUOTED: 1} if second else {})


ROOMS = ("cellar", "attic", "garage", "kitchen", "pantry", "barn", "shed", "porch")
COLORS = ("red", "green", "blue", "white", "yellow", "black", "purple", "brown")
TASKS = ("door", "roof", "gate", "stove", "shelf", "ladder", "bench", "railing")
PAINTED = [f"The {room} is painted {color}." for room, color in zip(ROOMS, COLORS, strict=True)]
OPEN = [f"Repair the {task} of the {room}" for room, task in zip(ROOMS, TASKS, strict=True)]


@pytest.mark.parametrize("carries_on", [False, True])
def test_what_each_of_eight_windows_says_is_in_the_episode_whether_or_not_the_model_carries_on(
    *, carries_on: bool
) -> None:
    def painting(_: Question) -> str:
        at = len(model.questions)
        first = 0 if carries_on else at - 1
        return answer(
            title="Painting of all the rooms there are",
            summary=" ".join(PAINTED[first:at]),
            key_points=[],
            outcome_rationale="The user asked for it.",
            open_threads=OPEN[first:at],
            candidate_facts=[fact(PAINTED[at - 1], at)],
        )

    model, parts = ScriptedModel(painting), zip(PAINTED, OPEN, strict=True)
    said = [Segment(f"[User] {painted} {task}, please.", "User", at) for at, (painted, task) in enumerate(parts, 1)]
    summarizer = replace(ModelWorld().summarizer(), model=model)

    whole = summarizer.summarize(SummaryInput(windows=tuple((each,) for each in said)), matter=MATTER)

    assert [each.text for each in whole.candidate_facts] == PAINTED
    assert whole.summary.summary == " ".join(PAINTED)
    assert whole.summary.open_threads == tuple(OPEN)
    assert len(model.questions) == len(ROOMS)


def test_a_long_session_is_understood_window_by_window_each_told_what_came_before() -> None:
    def titled(_: Question) -> str:
        part = PARTS[len(world.model.questions) - 1]
        return answer(
            title=f"Title of the {part} part of the session",
            summary=f"The story up to the {part} part.",
            outcome="partial" if part == "first" else "resolved",
            outcome_rationale=f"The {part} part says so.",
            key_points=[LESSONS[part]],
            open_threads=[f"Check the {part} service"],
            candidate_facts=[],
        )

    world = ModelWorld(titled)
    context = context_over(
        world.store,
        transcripts=StoredTranscripts(world.store, StoreKeys()),
        clock=world.date,
        summarizer=world.summarizer(),
        excerpts=partial(windows, budget=800, most=4),
    )

    effects = WORKER.handler_factory(context)(world.publish(text=LONG))
    world.store.apply(effects.writes)

    (episode,) = world.episodes
    first, second, *_ = (question.user for question in world.model.questions)
    assert len(world.model.questions) == episode.windows == len(PARTS)
    assert first.splitlines()[1] == "[Session] date: 2027-01-15, agent: tester"
    assert "in short" not in first
    for told in (
        "This is part 2 of 4",
        "Title of the first part",
        "The story up to the first part.",
        "open: Check the first",
    ):
        assert told in second
    assert episode.summary.title == "Title of the first part of the session"
    assert episode.summary.summary.endswith("The story up to the fourth part.")
    assert (episode.summary.outcome, len(episode.summary.key_points)) == (Outcome.RESOLVED, episode.windows)
