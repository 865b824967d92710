"""Wrappers of an LLM client: response cache, daily token budget and circuit breaker."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import NoReturn
from uuid import uuid4

import structlog

from nous.llm.base import (
    Failure,
    Model,
    ModelBusy,
    ModelMisconfigured,
    ModelPaused,
    ModelQuota,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    Question,
    Reply,
    TokenBudgetExceeded,
)
from nous.llm.state import CircuitStore, OpenCircuit, Reservation, ResponseStore, TokenUsageStore, UsageCounters
from nous.text.token_estimate import Counter

# Longest pause of an exceeded budget: the limit may be raised before the day is over.
_LOOK_AGAIN = timedelta(minutes=10)
_IN_FLIGHT = timedelta(seconds=30)
"""Pause while calls in flight hold reservations; what they do not use is free again when they end."""

_Failed = ModelTimeout | ModelUnreachable | ModelQuota | ModelMisconfigured

# Failures of a question, each after the answer to another one, until it counts as their cause.
_MOST_FAILURES = 3
_AFTER_OTHERS = timedelta(seconds=5)
"""Extra wait of a question that has failed: one that always fails must not be every probe."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Wrapped:
    model: Model

    @property
    def id(self) -> str:
        return self.model.id


@dataclass(frozen=True, slots=True)
class ResponseCache(_Wrapped):
    """Model that pays once for a response, in spite of retries, crashes or commit conflicts.

    An unusable answer is cached too: asking again would cost
    as much. Only an answer that may quote content that was erased meanwhile is not kept.
    """

    responses: ResponseStore
    counters: UsageCounters

    def ask(self, question: Question, /) -> Reply:
        found = self.responses.find(question, self.id)
        if found:
            self.counters.count(self.id, remembered=1)
            return found
        reply = self.model.ask(question)
        if question.earlier:
            self.counters.count(self.id, asked_again=1)
            log.info("model.repair_requested", model=self.id, complaint=question.earlier[-1].complaint)
        return self.responses.save(question, self.id, reply)


@dataclass(frozen=True, slots=True)
class TokenBudget(_Wrapped):
    """Model that reserves a call's maximum tokens before it, and settles its usage after it.

    *limit* is in tokens per scope and day (UTC); *count* counts those of a prompt. A call that its deadline cut off is
    settled with the tokens of its prompt, since the provider has read that.
    """

    allowance: TokenUsageStore
    _: KW_ONLY
    limit: int
    count: Counter
    clock: Callable[[], datetime]

    def ask(self, question: Question, /) -> Reply:
        """Answer. Raises `TokenBudgetExceeded`, or `ModelPaused` while calls hold the tokens."""
        now = self.clock().astimezone(UTC)
        prompt = sum(map(self.count, question.texts))
        reservation = Reservation(
            id=uuid4().hex, scope=question.matter.scope, day=now.date(), tokens=prompt + question.most_tokens
        )
        if not self.allowance.reserve(reservation, limit=self.limit):
            raise self._refusal(reservation, now)
        spent = 0
        try:
            reply = self.model.ask(question)
            spent = reply.tokens.total
        except ModelTimeout:
            spent = prompt
            raise
        finally:
            self.allowance.settle(reservation, spent=spent)
        return reply

    def _refusal(self, wanted: Reservation, now: datetime) -> ModelPaused:
        name = f"llm.daily_tokens: the {self.limit:,} of {wanted.scope}"
        spent = sum(each.spent for each in self.allowance.usage(wanted.day) if each.scope == wanted.scope)
        if spent + wanted.tokens <= self.limit:
            text = f"{name} are reserved by calls in flight"
            return ModelPaused(text, until=now + _IN_FLIGHT, since=now, failure=Failure.QUOTA)
        midnight = datetime.combine(wanted.day + timedelta(days=1), time(tzinfo=UTC))
        text = f"{name} are spent until 00:00 UTC"
        return TokenBudgetExceeded(text, until=min(midnight, now + _LOOK_AGAIN), since=now, failure=Failure.QUOTA)


@dataclass(frozen=True, slots=True)
class CircuitBreaker(_Wrapped):
    """Model that stops calling a failing provider until a probe (at most *probe* s) succeeds."""

    outages: CircuitStore
    counters: UsageCounters
    _: KW_ONLY
    probe: float

    def ask(self, question: Question, /) -> Reply:
        if pause := self.outages.admit(self.id, probe=self.probe):
            raise _paused(self.id, pause)
        try:
            reply = self.model.ask(question)
        except ModelBusy:
            self.outages.release_probe(self.id)
            raise
        except (ModelTimeout, ModelUnreachable, ModelQuota, ModelMisconfigured, ModelRefused) as error:
            if isinstance(error, ModelRefused) or self._is_poison(question, error):
                self.outages.release_probe(self.id)
                self._note(error.failure, str(error))
                raise
            self._failed(error)
        self.outages.record_success(self.id)
        self.counters.count(self.id, calls=1, answered=1, tokens_in=reply.tokens.input, tokens_out=reply.tokens.output)
        return reply

    def _is_poison(self, question: Question, error: _Failed) -> bool:
        """Return whether *question* is the cause. Quotas, timeouts and outages never count."""
        if error.failure is not Failure.TRANSPORT or self.id in self.outages.current():
            return False
        return self.outages.count_failure(self.id, question.digest) > _MOST_FAILURES

    def _failed(self, error: _Failed) -> NoReturn:
        """Record and raise; an open circuit costs no attempt, unless the question timed out."""
        until = error.until if isinstance(error, ModelQuota) else None
        pause = self.outages.record_failure(self.id, error.failure, until=until)
        self._note(error.failure, str(error), until=pause.until if pause else None)
        if pause and not isinstance(error, ModelTimeout):
            raise _paused(self.id, replace(pause, until=pause.until + _AFTER_OTHERS), str(error)) from error
        raise error

    def _note(self, failure: Failure, text: str, *, until: datetime | None = None) -> None:
        self.counters.count(self.id, calls=1, **{f"failed_{failure}": 1})
        log.warning("model.call_failed", model=self.id, failure=failure, reason=text, paused_until=until)


def _paused(model: str, pause: OpenCircuit, reason: str = "") -> ModelPaused:
    message = reason or f"{model} is paused after {pause.failures} failures ({pause.failure})"
    return ModelPaused(message, until=pause.until, since=pause.since, failure=pause.failure)
