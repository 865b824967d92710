"""A model in front of another, which keeps each scope within its tokens of the day."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from uuid import uuid4

from nous.domain.scope import Scope
from nous.llm.base import AllowanceSpent, Failure, Model, ModelPaused, ModelTimeout, Question, Reply
from nous.llm.state import Allowance, Reservation
from nous.text.token_estimate import Counter

_LOOK_AGAIN = timedelta(minutes=10)
"""The limit may be raised before the day is over."""

_IN_FLIGHT = timedelta(seconds=30)
"""What is set aside for calls in flight is free again when they are over, but for what they cost."""


class Governed:
    """Sets aside what a call may cost at most before it is made, and books what it has cost after.

    *limit* is in tokens of a scope and day (UTC); *count* counts those of a prompt. A call that was cut off by its
    deadline is booked with its prompt, since the provider has read that.
    """

    def __init__(
        self, model: Model, allowance: Allowance, *, limit: int, count: Counter, clock: Callable[[], datetime]
    ) -> None:
        self._model = model
        self._allowance = allowance
        self._limit = limit
        self._count = count
        self._clock = clock

    @property
    def id(self) -> str:
        return self._model.id

    def ask(self, question: Question, /) -> Reply:
        """Answer *question*.

        Raises:
            AllowanceSpent: the day's tokens are; the next ones are there at midnight.
            ModelPaused: there are enough, but calls in flight hold them.
        """
        now = self._clock().astimezone(UTC)
        prompt = self._tokens_of(question)
        reservation = Reservation(
            id=uuid4().hex, scope=question.matter.scope, day=now.date(), tokens=prompt + question.most_tokens
        )
        if not self._allowance.reserve(reservation, limit=self._limit):
            raise self._refusal(reservation, now)
        spent = 0
        try:
            reply = self._model.ask(question)
            spent = reply.tokens.total
        except ModelTimeout:
            spent = prompt
            raise
        finally:
            self._allowance.settle(reservation, spent=spent)
        return reply

    def _refusal(self, wanted: Reservation, now: datetime) -> ModelPaused:
        name = f"llm.daily_tokens: the {self._limit:,} of {wanted.scope}"
        if self._spent(wanted.scope, wanted.day) + wanted.tokens <= self._limit:
            text = f"{name} are held by calls in flight"
            return ModelPaused(text, until=now + _IN_FLIGHT, since=now, failure=Failure.QUOTA)
        midnight = datetime.combine(wanted.day + timedelta(days=1), time(tzinfo=UTC))
        text = f"{name} are spent until 00:00 UTC"
        return AllowanceSpent(text, until=min(midnight, now + _LOOK_AGAIN), since=now, failure=Failure.QUOTA)

    def _spent(self, scope: Scope, day: date) -> int:
        return sum(each.spent for each in self._allowance.spending(day) if each.scope == scope)

    def _tokens_of(self, question: Question) -> int:
        told = [
            question.system,
            question.user,
            *(text for each in question.earlier for text in (each.answer, each.complaint)),
        ]
        return sum(map(self._count, told))
