"""Circuit breaker around a model client; also records call metrics."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import NoReturn

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
)
from nous.llm.state import CallCounts, CircuitStore, OpenCircuit, UsageCounters

_Failed = ModelTimeout | ModelUnreachable | ModelQuota | ModelMisconfigured

_FAILURES = (Failure.TIMEOUT, Failure.TRANSPORT, Failure.QUOTA)
"""Failures of a provider or of a question. A refused question or an unusable answer is an answer."""

_AFTER_OTHERS = timedelta(seconds=5)
"""Extra wait of a question that has failed: one that always fails must not be every probe."""

log = structlog.get_logger(__name__)


class CircuitBreaker:
    """Model that stops calling a failing provider until a probe succeeds.

    One call finds out that a provider is down; all others are spared. *probe* is the longest time, in seconds, that the
    probe may take after an open interval.
    """

    def __init__(self, model: Model, outages: CircuitStore, counters: UsageCounters, *, probe: float) -> None:
        self._model = model
        self._outages = outages
        self._counters = counters
        self._probe = probe

    @property
    def id(self) -> str:
        return self._model.id

    def ask(self, question: Question, /) -> Reply:
        if pause := self._outages.admit(self.id, probe=self._probe):
            raise _paused(self.id, pause)
        try:
            reply = self._model.ask(question)
        except ModelBusy:
            self._outages.release_probe(self.id)
            raise
        except (ModelTimeout, ModelUnreachable, ModelQuota, ModelMisconfigured, ModelRefused) as error:
            if isinstance(error, ModelRefused) or self._is_poison(question, error):
                self._outages.release_probe(self.id)
                self._note(error.failure, str(error))
                raise
            self._failed(error)
        self._outages.record_success(self.id)
        self._counters.count(self.id, calls=1, answered=1, tokens_in=reply.tokens.input, tokens_out=reply.tokens.output)
        return reply

    def _is_poison(self, question: Question, error: _Failed) -> bool:
        """Return whether *question* is poison. Exceeded quotas and timeouts never count against it."""
        if error.failure is not Failure.TRANSPORT:
            return False
        counts = self._counters.counts().get(self.id, {})
        calls = CallCounts(counts.get("answered", 0), sum(counts.get(f"failed_{failure}", 0) for failure in _FAILURES))
        return self._outages.suspect(self.id, question.digest, calls).is_poison

    def _failed(self, error: _Failed) -> NoReturn:
        """Record the failure and raise; if the circuit opens, the question waits without an attempt.

        A timeout always counts as an attempt: the question itself may be what takes so long.
        """
        until = error.until if isinstance(error, ModelQuota) else None
        pause = self._outages.record_failure(self.id, error.failure, until=until)
        self._note(error.failure, str(error), until=pause.until if pause else None)
        if pause and not isinstance(error, ModelTimeout):
            raise _paused(self.id, replace(pause, until=pause.until + _AFTER_OTHERS), str(error)) from error
        raise error

    def _note(self, failure: Failure, text: str, *, until: datetime | None = None) -> None:
        self._counters.count(self.id, calls=1, **{f"failed_{failure}": 1})
        log.warning("model.call_failed", model=self.id, failure=failure, reason=text, paused_until=until)


def _paused(model: str, pause: OpenCircuit, reason: str = "") -> ModelPaused:
    message = reason or f"{model} is paused after {pause.failures} failures ({pause.failure})"
    return ModelPaused(message, until=pause.until, since=pause.since, failure=pause.failure)
