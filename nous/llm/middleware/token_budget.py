"""Daily token budget per scope around a model client (rate limit)."""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from uuid import uuid4

from nous.llm.base import Failure, Model, ModelPaused, ModelTimeout, Question, Reply, TokenBudgetExceeded
from nous.llm.state import Reservation, TokenUsageStore
from nous.text.token_estimate import Counter

_LOOK_AGAIN = timedelta(minutes=10)
"""Longest pause of an exceeded budget: the limit may be raised before the day is over."""

_IN_FLIGHT = timedelta(seconds=30)
"""Pause while calls in flight hold reservations; what they do not use is free again when they end."""


class TokenBudget:
    """Model that reserves a call's maximum tokens before it, and settles its usage after it.

    *limit* is in tokens per scope and day (UTC); *count* counts those of a prompt. A call that its deadline cut off is
    settled with the tokens of its prompt, since the provider has read that.
    """

    def __init__(
        self, model: Model, allowance: TokenUsageStore, *, limit: int, count: Counter, clock: Callable[[], datetime]
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
            TokenBudgetExceeded: the day's tokens are used up; the budget resets at midnight.
            ModelPaused: there are enough tokens, but calls in flight hold them.
        """
        now = self._clock().astimezone(UTC)
        prompt = sum(map(self._count, question.texts))
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
        spent = sum(each.spent for each in self._allowance.usage(wanted.day) if each.scope == wanted.scope)
        if spent + wanted.tokens <= self._limit:
            text = f"{name} are reserved by calls in flight"
            return ModelPaused(text, until=now + _IN_FLIGHT, since=now, failure=Failure.QUOTA)
        midnight = datetime.combine(wanted.day + timedelta(days=1), time(tzinfo=UTC))
        text = f"{name} are spent until 00:00 UTC"
        return TokenBudgetExceeded(text, until=min(midnight, now + _LOOK_AGAIN), since=now, failure=Failure.QUOTA)
