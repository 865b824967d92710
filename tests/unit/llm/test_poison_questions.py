"""Whether the provider fails, or a question makes it fail: nobody is to pay for the other."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from builders.llm_stores import fake_books
from builders.questions import question
from builders.scripted_model import Answer, ScriptedModel

from nous.domain.errors import Deferred, NousError
from nous.llm.base import Failure, ModelBusy, ModelPaused, ModelRefused, ModelUnreachable, Question
from nous.llm.middleware import CircuitBreaker

BAD, GOOD = (replace(question(), user=user) for user in ("bad", "good"))
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
    fleet = Fleet(lambda asked: ModelUnreachable("500", failure=Failure(failure)) if asked == BAD else "Tea.")
    here, there = fleet.process(), fleet.process()

    found: list[NousError | None] = []
    for number in range(5):
        found.append(ask(here if number % 2 else there, BAD))
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
        return error if asked == BAD else "Tea."

    fleet.answers = answered

    assert ask(process, BAD) is error
    assert fleet.outages.current()[process.id].failures == 1
    assert ask(process, GOOD) is None
