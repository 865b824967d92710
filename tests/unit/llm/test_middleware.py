"""Model middleware: one bad question, answer, record or provider affects no other."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest
from builders.answers import answer
from builders.llm_stores import fake_books
from builders.model_world import ModelWorld
from builders.questions import question
from builders.scripted_model import Answer, ScriptedModel

from nous.domain.episode import Episode
from nous.domain.errors import Deferred, Misconfigured, NousError
from nous.domain.scope import Scope
from nous.llm import messages
from nous.llm.base import (
    Failure,
    ModelBusy,
    ModelPaused,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    Question,
    TokenBudgetExceeded,
)
from nous.llm.middleware import CircuitBreaker, TokenBudget
from nous.llm.provider import Endpoint
from nous.llm.providers import anthropic
from workers.episode_reviser import WORKER as REVISER

BAD = "User: Please do the cursed thing with billing on port 9017.\n\nAssistant: The cursed thing is done now."
ENDPOINT = Endpoint(provider="openai", model="m", deadline=1, concurrency=1, base_url="http://there")
HOUR, DAY = 3600, 86_400


def cursed(question: Question) -> Any:
    return ModelUnreachable("500") if "cursed" in question.user else answer()


def test_a_question_that_makes_the_provider_fail_is_not_asked_for_ever() -> None:
    world = ModelWorld(cursed)
    world.publish("bad", BAD)
    for number in range(30):
        world.publish(f"good{number}")
        world.work(600, step=60)
        world.offer()

    bad = next(episode for episode in world.episodes if episode.session_id == "bad")
    asked = sum("cursed" in each.user for each in world.model.questions)
    assert (bad.tier, asked < 30) == ("extractive", True)
    assert sum(world.account(name).dead for name in world.workers) == 0


def test_a_scope_without_tokens_makes_way_for_the_others() -> None:
    world = ModelWorld(daily_tokens=4_000, when_exhausted="extractive")
    world.use(None)
    for number in range(70):
        world.publish(
            f"s{number}", f"User: Run billing on port {9000 + number}, please, always.\n\nAssistant: Done now."
        )
    world.publish("theirs", scope=Scope(project="theirs"))
    world.work()
    assert len(world.episodes) == 70
    world.use(world.summarizer())

    for _ in range(3):
        world.offer()
        world.work(60)

    assert [str(episode.tier) for episode in world.store.recent(Scope(project="theirs"))] == ["llm"]


def test_an_episode_that_cannot_be_read_or_is_gone_keeps_no_other_from_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = ModelWorld()
    world.use(None)
    for number in range(3):
        world.publish(f"s{number}")
    world.work()
    world.use(world.summarizer())
    bad, gone, _ = (episode.id for episode in world.episodes)
    get = world.store.get

    def odd(scope: Scope, episode_id: UUID) -> Episode | None:
        if episode_id == bad:
            raise Misconfigured("the store holds no Episode that this release can read")
        return None if episode_id == gone else get(scope, episode_id)

    monkeypatch.setattr(world.store, "get", odd)

    assert world.offer() == 1
    assert world.offer() == 0


@pytest.mark.parametrize(
    ("error", "hours", "why"), [(ModelUnreachable("500"), 26, "transport"), (ModelTimeout("hangs"), 4, "timeout")]
)
def test_what_has_waited_for_the_model_long_enough_makes_way_and_comes_again(
    error: Exception, hours: int, why: str
) -> None:
    world = without_a_model_at_first()
    world.answers = lambda _: error
    world.offer()
    world.work(hours * HOUR, step=1800)

    assert world.account(REVISER.name).skipped == {f"{why}, for today": 1}
    world.answers = lambda _: answer()
    assert later(world) == ["llm"]


def without_a_model_at_first(sessions: int = 1, **llm: Any) -> ModelWorld:
    """A world with a model, and episodes of before there was one."""
    world = ModelWorld(**llm)
    world.use(None)
    for number in range(sessions):
        world.publish(
            f"s{number}", f"User: Run billing on port {9000 + number}, please, always.\n\nAssistant: Done now."
        )
    world.work()
    world.use(world.summarizer())
    return world


def later(world: ModelWorld) -> list[str]:
    """What there is after episodes were offered on the next day."""
    world.now += DAY
    world.offer()
    world.work(60)
    return world.tiers


@pytest.mark.parametrize("body", [rb'{"a": "half \ud83d"}', b'{"a": "x", "usage": NaN}'])
def test_json_that_only_some_programs_write_is_read(body: bytes) -> None:
    found = messages.json_object(body)

    assert found is not None
    assert messages.answered(found["a"], question(), ENDPOINT, read=None, written=None, is_whole=True).text.encode()


def test_half_an_emoji_costs_itself_and_not_the_answer_of_a_tool() -> None:
    given = {"title": "half \ud83d", "summary": "fine"}

    reply = anthropic.PROVIDER.read({"content": [{"type": "tool_use", "input": given}]}, question(), ENDPOINT)

    assert orjson.loads(reply.text) == {"title": "half ?", "summary": "fine"}


def test_tokens_that_calls_in_flight_hold_are_waited_for_and_not_spent() -> None:
    refusals: list[ModelPaused] = []

    def answered(_: Question) -> str:
        if not refusals:
            with pytest.raises(ModelPaused) as refusal:
                governed.ask(replace(question(), most_tokens=3_000))
            refusals.append(refusal.value)
        return "Tea."

    now = datetime(2026, 1, 1, 12, tzinfo=UTC)
    token_usage = fake_books(now.timestamp).token_usage
    governed = TokenBudget(ScriptedModel(answered), token_usage, limit=5_000, count=len, clock=lambda: now)
    governed.ask(replace(question(), most_tokens=3_000))

    assert not isinstance(refusals[0], TokenBudgetExceeded)
    assert refusals[0].until - now < timedelta(minutes=1)
    governed.ask(replace(question(), most_tokens=3_000))


CURSED, GOOD = (replace(question(), user=user) for user in ("bad", "good"))
START = 1_000_000_000.0


class Fleet:
    """Processes that share what they write down of calls. `now` is in seconds since the epoch."""

    def __init__(self, answers: Callable[[Question], Answer]) -> None:
        self.now = START
        self.answers = answers
        books = fake_books(lambda: self.now)
        self.outages, self.counters = books.circuits, books.counters
        self.model = ScriptedModel(self._answered)

    def _answered(self, asked: Question) -> Answer:
        return self.answers(asked)

    def process(self) -> CircuitBreaker:
        return CircuitBreaker(self.model, self.outages, self.counters, probe=240)


def ask(process: CircuitBreaker, asked: Question) -> NousError | None:
    try:
        process.ask(asked)
    except NousError as error:
        return error
    return None


@pytest.mark.parametrize(("failure", "in_the_end"), [("transport", ModelUnreachable), ("quota", ModelPaused)])
def test_a_question_costs_attempts_once_it_has_often_failed_while_others_were_answered_unless_a_quota_did_it(
    failure: str, in_the_end: type[NousError]
) -> None:
    fleet = Fleet(lambda asked: ModelUnreachable("500", failure=Failure(failure)) if asked == CURSED else "Tea.")
    here, there = fleet.process(), fleet.process()

    found: list[NousError | None] = []
    for number in range(5):
        found.append(ask(here if number % 2 else there, CURSED))
        fleet.now += 120
        assert ask(here, GOOD) is None

    assert [type(error) for error in found] == [ModelPaused] * 3 + [in_the_end] * 2


def test_an_overloaded_provider_is_not_taken_for_bad_questions() -> None:
    answered: list[float] = []

    def limited(_: Question) -> Answer:
        if sum(at // 60 == fleet.now // 60 for at in answered) >= 3:
            return ModelUnreachable("503")
        answered.append(fleet.now)
        return "Tea."

    fleet = Fleet(limited)
    process = fleet.process()
    due = {f"question {number}": fleet.now for number in range(30)}
    while due and fleet.now < START + 3600:
        for user in [user for user, at in due.items() if at <= fleet.now]:
            match ask(process, replace(question(), user=user)):
                case None:
                    del due[user]
                case Deferred(until=until):
                    due[user] = until.timestamp()
                case error:
                    pytest.fail(f"it was held against {user}: {error}")
        fleet.now += 1

    assert not due
    assert len(fleet.model.questions) < 100


@pytest.mark.parametrize(
    "error", [ModelRefused("too long"), ModelBusy("full", until=datetime.fromtimestamp(START, tz=UTC))], ids=type
)
def test_what_tells_nothing_of_a_provider_neither_ends_an_outage_nor_keeps_the_next_from_looking(
    error: Exception,
) -> None:
    fleet = Fleet(lambda _: ModelUnreachable("down"))
    process = fleet.process()
    ask(process, GOOD)
    fleet.now += 1

    def answered(asked: Question) -> Answer:
        return error if asked == CURSED else "Tea."

    fleet.answers = answered

    assert ask(process, CURSED) is error
    assert fleet.outages.current()[process.id].failures == 1
    assert ask(process, GOOD) is None
