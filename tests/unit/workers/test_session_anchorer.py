"""What carries a session across compactions and resumes: one for each agent and session, and never the poorer."""

import random
from collections.abc import Callable

import orjson
import pytest
from builders.model_world import ModelWorld
from structlog.testing import capture_logs

from nous.domain.anchored_summary import LABELS
from nous.domain.episode import Tier
from nous.llm.base import ModelTimeout, ModelUnreachable, Question

FACTS = ("port 9017", "`billing.toml`", "never on Fridays")
FIRST = (
    "User: Please run billing on port 9017, as `billing.toml` says, and deploy never on Fridays.\n\n"
    "Assistant: Understood: billing runs on port 9017, set in `billing.toml`, and there is no deploy on Fridays."
)
Answers = Callable[[Question], str]


def told(turns: int) -> str:
    """A session of so many turns after the first, each with something of its own."""
    more = (
        f"User: Now add check number {1000 + turn}.\n\nAssistant: Check number {1000 + turn} is added and passes."
        for turn in range(1, turns + 1)
    )
    return "\n\n".join([FIRST, *more])


def so_far(question: Question) -> dict[str, list[str]]:
    """The lines of the summary that the model is shown, by section."""
    lines: dict[str, list[str]] = {id_: [] for id_ in LABELS}
    ids = {label: id_ for id_, label in LABELS.items()}
    here = "intent"
    for line in question.user.partition("New since then:")[0].splitlines():
        if line.startswith("## "):
            here = ids.get(line[3:], line[3:].lower())
            lines.setdefault(here, [])
        elif line and not line.startswith(("<notes ", "</notes ", "The summary so far")):
            lines[here].append(line.removeprefix("- "))
    return lines


def faithful(question: Question) -> str:
    """Keeps every line, and adds what the user said."""
    sections = so_far(question)
    news = [line for line in question.user.splitlines() if line.startswith("[User] ")]
    sections["intent"] += [line.removeprefix("[User] ") for line in news]
    return orjson.dumps(sections).decode()


def unfaithful(seed: int) -> Answers:
    """Writes down the first turn, and forgets half of what it is shown after that, at random."""
    chance = random.Random(seed)

    def answer(question: Question) -> str:
        is_first = not any(so_far(question).values())
        said: dict[str, list[str]] = orjson.loads(faithful(question))
        kept = {id_: [line for line in lines if is_first or chance.random() < 0.5] for id_, lines in said.items()}
        return orjson.dumps({**kept, "current_state": ["The work goes on."]}).decode()

    return answer


def anchored(world: ModelWorld, times: int) -> str:
    """Compact *times* times, a turn more each time; what is remembered then."""
    for turn in range(times):
        world.compact(told(turn))
        world.work()
    return world.anchor().summary.to_prompt_text()


def test_facts_of_the_first_turn_are_there_after_thirty_compactions() -> None:
    world = ModelWorld(faithful)

    text = anchored(world, 30)

    assert all(fact in text for fact in FACTS)
    assert world.anchor().summary.iteration == 30
    assert world.anchor().tier is Tier.LLM
    assert len(world.model.questions) == 30


@pytest.mark.parametrize("seed", range(5))
def test_what_a_model_forgets_is_put_back_and_logged(seed: int) -> None:
    world = ModelWorld(unfaithful(seed))

    with capture_logs() as logs:
        text = anchored(world, 30)

    assert all(fact in text for fact in FACTS)
    assert any(line["event"] == "anchored_summary.lines_restored" for line in logs)


def test_the_same_compaction_twice_is_one_iteration() -> None:
    world = ModelWorld(faithful)
    world.compact(told(2))
    world.work()
    before = world.anchor()

    world.publish("s1", told(2))
    world.work()

    assert world.anchor() == before
    assert before.summary.iteration == 1


def test_a_shorter_transcript_that_comes_late_changes_nothing() -> None:
    world = ModelWorld(faithful)
    world.compact(told(3))
    world.work()
    before = world.anchor()

    world.compact(told(1))
    world.work()

    assert world.anchor() == before
    assert world.account("session-anchorer").skipped == {"nothing new": 1}


def test_without_a_model_it_is_made_of_the_session_s_own_words() -> None:
    world = ModelWorld()
    world.use(None)

    text = anchored(world, 30)

    assert all(fact in text for fact in FACTS)
    assert world.anchor().tier is Tier.EXTRACTIVE
    assert world.anchor().summary.iteration == 30


@pytest.mark.parametrize(
    ("error", "kind"), [(ModelTimeout("slow"), "timed out"), (ModelUnreachable("cut"), "transport")]
)
def test_a_compaction_does_not_wait_for_a_model_and_what_it_missed_is_shown_to_it_later(
    error: Exception, kind: str
) -> None:
    world = ModelWorld(lambda _: error)
    world.compact(told(1))
    world.work()
    missed = world.anchor()
    assert (missed.tier, missed.seen_by_model, missed.summary.iteration) == (Tier.EXTRACTIVE, 0, 1)
    assert kind in (missed.made_do or "")
    assert "port 9017" in missed.summary.to_prompt_text()

    world.answers = faithful
    world.now += 3600
    world.compact(told(2))
    world.work()

    assert world.anchor().tier is Tier.LLM
    assert world.anchor().seen_by_model == world.anchor().entries
    assert "port 9017" in world.model.questions[-1].user.partition("New since then:")[2]
    assert all(fact in world.anchor().summary.to_prompt_text() for fact in FACTS)


def test_a_resumed_session_goes_on_from_its_anchored_summary() -> None:
    world = ModelWorld(faithful)
    world.compact(told(1))
    world.work()
    world.use(None)

    world.publish("s1", told(3))
    world.work()

    assert world.anchor().summary.iteration == 2
    assert "check number 1003" in world.anchor().summary.to_prompt_text()
