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
from nous.llm.state import CallCounts, SuspectQuestion, failed_again

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

    def blame(self) -> CircuitBreaker:
        """Have the bad question fail until it is to blame, while the good one is answered."""
        process = self.process()
        for _ in range(4):
            ask(process, BAD)
            self.now += 120
            ask(process, GOOD)
            self.now += 120
        return process


def ask(process: CircuitBreaker, asked: Question) -> NousError | None:
    try:
        process.ask(asked)
    except NousError as error:
        return error
    return None


def cursed(asked: Question) -> Answer:
    return ModelUnreachable("500") if asked == BAD else "Tea."


@pytest.mark.parametrize(
    ("tries", "is_to_blame"),
    [
        ([(0, 0)] * 9, False),  # nobody is answered
        ([(0, 0), (9, 1), (18, 2)], False),
        ([(0, 0), (9, 1), (18, 2), (27, 3)], True),
        ([(0, 0), (9, 1), (9, 2), (9, 3), (9, 4)], False),  # since then nobody was
        ([(0, 0), (3, 10), (6, 20), (9, 30), (12, 40)], False),  # most of the others fail as well
        ([(0, 0), *((3 * n, 10 * n) for n in range(1, 14))], True),  # but not all, in all this time
        ([(5, 5), (0, 0), (0, 0)], False),  # what was counted is lost
    ],
)
def test_who_should_have_been_answered_by_now_is_to_blame(tries: list[tuple[int, int]], *, is_to_blame: bool) -> None:
    failing: SuspectQuestion | None = None
    for calls in tries:
        failing = failed_again(failing, CallCounts(*calls))

    assert failing is not None
    assert failing.is_poison is is_to_blame


def test_processes_blame_a_question_together() -> None:
    fleet = Fleet(cursed)
    here, there = fleet.process(), fleet.process()

    found: list[NousError | None] = []
    for _ in range(5):
        found.append(ask(there, BAD))
        fleet.now += 2
        assert ask(here, GOOD) is None

    assert [type(error) for error in found] == [ModelPaused] * 3 + [ModelUnreachable] * 2


def test_no_question_is_to_blame_for_a_quota() -> None:
    fleet = Fleet(lambda asked: ModelUnreachable("429", failure=Failure.QUOTA) if asked == BAD else "Tea.")

    assert isinstance(ask(fleet.blame(), BAD), ModelPaused)


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
