"""A model in front of another, which leaves a failing provider alone for a while and counts what came of calls."""

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
from nous.llm.state import Calls, Outages, Pause, Tally, failed_again

_Failed = ModelTimeout | ModelUnreachable | ModelQuota | ModelMisconfigured

_FAILURES = (Failure.TIMEOUT, Failure.TRANSPORT, Failure.QUOTA)
"""Of a provider, or of a question. What is refused, or no answer, was answered."""

_AFTER_OTHERS = timedelta(seconds=5)
"""How much longer than all others a question waits that has failed: one that always fails must not be every probe."""

log = structlog.get_logger(__name__)


class Guarded:
    """One call finds out that a provider is down, and all others are spared it.

    *probe* is how long, in seconds, a call may take that goes first after a pause.
    """

    def __init__(self, model: Model, outages: Outages, tally: Tally, *, probe: float) -> None:
        self._model = model
        self._outages = outages
        self._tally = tally
        self._probe = probe

    @property
    def id(self) -> str:
        return self._model.id

    def ask(self, question: Question, /) -> Reply:
        if pause := self._outages.enter(self.id, probe=self._probe):
            raise _paused(self.id, pause)
        try:
            reply = self._model.ask(question)
        except ModelBusy:
            self._outages.put_back(self.id)
            raise
        except ModelRefused as error:
            self._outages.put_back(self.id)
            self._note(error.failure, str(error))
            raise
        except (ModelTimeout, ModelUnreachable, ModelQuota, ModelMisconfigured) as error:
            if self._blames(question, error):
                self._outages.put_back(self.id)
                self._note(error.failure, str(error))
                raise
            self._failed(error)
        self._outages.passed(self.id)
        self._tally.count(self.id, calls=1, answered=1, tokens_in=reply.tokens.input, tokens_out=reply.tokens.output)
        return reply

    def _blames(self, question: Question, error: _Failed) -> bool:
        """Whether *question* is what makes the provider fail. Of a quota no single question is to blame."""
        if error.failure is not Failure.TRANSPORT:
            return False
        counts = self._tally.counts().get(self.id, {})
        calls = Calls(counts.get("answered", 0), sum(counts.get(f"failed_{failure}", 0) for failure in _FAILURES))
        failing = failed_again(self._outages.failing(self.id, question.digest), calls)
        self._outages.note_failing(self.id, question.digest, failing)
        return failing.is_to_blame

    def _failed(self, error: _Failed) -> NoReturn:
        """Note the failure; where that closes the provider, the question waits and nothing is held against it.

        A timeout is always held against it: what is asked may be what takes so long.
        """
        until = error.until if isinstance(error, ModelQuota) else None
        pause = self._outages.failed(self.id, error.failure, until=until)
        self._note(error.failure, str(error), until=pause.until if pause else None)
        if pause and not isinstance(error, ModelTimeout):
            raise _paused(self.id, replace(pause, until=pause.until + _AFTER_OTHERS), str(error)) from error
        raise error

    def _note(self, failure: Failure, text: str, *, until: datetime | None = None) -> None:
        self._tally.count(self.id, calls=1, **{f"failed_{failure}": 1})
        log.warning("the model did not answer", model=self.id, failure=failure, reason=text, paused_until=until)


def _paused(model: str, pause: Pause, reason: str = "") -> ModelPaused:
    told = reason or f"{model} is left alone after {pause.failures} failures ({pause.failure})"
    return ModelPaused(told, until=pause.until, since=pause.since, failure=pause.failure)
