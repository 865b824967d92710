"""Define the LLM client protocol (`ask`), its `Question` and `Reply`, and its error classes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Protocol

import orjson

from nous.domain.episode import Tokens
from nous.domain.errors import Deferred, Fatal, Misconfigured, Retryable
from nous.domain.scope import CacheSubject

LONGEST_EARLIER = 8_000  # the most characters of an unusable answer that are shown to the model again


class Failure(StrEnum):
    """Failure kind of a model call; a quota failure says when to come back."""

    TIMEOUT = "timeout"
    TRANSPORT = "transport"
    QUOTA = "quota"
    PARSE = "parse"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Exchange:
    answer: str
    complaint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request to a model, with its cache subject, which is not sent.

    `schema` has the form that providers accept as strict: every object is closed and requires all its properties, and
    no keyword narrows a value. `earlier` holds the unusable answers so far, if this is a repair request.
    """

    matter: CacheSubject
    system: str
    user: str
    name: str
    schema: Mapping[str, Any]
    most_tokens: int
    earlier: tuple[Exchange, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.system, self.user, *(text for each in self.earlier for text in (each.answer, each.complaint)))

    @property
    def digest(self) -> str:
        """SHA-256, in hex, of all that is sent to the model. Equal digests mean equal questions."""
        sent = [self.system, self.user, self.name, self.schema, self.most_tokens]
        asked_before = [[each.answer, each.complaint] for each in self.earlier]
        return sha256(orjson.dumps([sent, asked_before], option=orjson.OPT_SORT_KEYS)).hexdigest()

    def again(self, answer: str, complaint: str) -> "Question":
        """Return the same question as a repair request after an unusable *answer*, with the reason."""
        return replace(self, earlier=(*self.earlier, Exchange(answer[:LONGEST_EARLIER], complaint)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    text: str
    model: str
    tokens: Tokens
    is_whole: bool = True


class Model(Protocol):
    """Language-model client. Thread-safe.

    A call has a total deadline, counted from when it is sent. Before that, it may wait as long for a free slot.
    """

    @property
    def id(self) -> str:
        """Such as `openai:gpt-5-mini`."""
        ...

    def ask(self, question: Question, /) -> Reply:
        """Answer *question*.

        Raises:
            ModelTimeout: there was no whole answer within the deadline.
            ModelUnreachable: the provider was not reached, broke off, or failed on its side.
            ModelBusy: too many calls are in flight; nothing was sent, and nothing is held against the question.
            ModelQuota: the provider has said when to come back.
            ModelPaused: no calls are allowed until a given time: the provider said so, or has failed before.
            ModelRefused: the provider will not answer this question, however often it is asked.
            ModelMisconfigured: it will answer none, until the operator has changed something.
        """
        ...


class ModelTimeout(Retryable):
    failure = Failure.TIMEOUT


class ModelUnreachable(Retryable):
    """The provider was not reached, broke off, failed, or is rate limiting without an end time."""

    def __init__(self, message: str, *, failure: Failure = Failure.TRANSPORT) -> None:
        super().__init__(message)
        self.failure = failure


class ModelPaused(Deferred):
    """A provider's circuit is open; *since* is when the outage began, which *failure* caused."""

    def __init__(self, message: str, *, until: datetime, since: datetime, failure: Failure) -> None:
        super().__init__(message, until=until)
        self.since = since
        self.failure = failure


class TokenBudgetExceeded(ModelPaused):
    """A scope's daily tokens are used up; the pause ends earlier, in case the limit is raised."""


class ModelQuota(Deferred):
    """The provider is rate limiting, and has said when to come back."""

    failure = Failure.QUOTA


class ModelBusy(Deferred):
    """All call slots were taken until the deadline. Nothing was sent."""


class ModelRefused(Fatal):
    """The provider will not answer this question, but may answer others."""

    failure = Failure.OTHER


class ModelMisconfigured(Misconfigured):
    """The provider answers nothing until the key, account, address or model name is changed."""

    failure = Failure.OTHER


class AnswerUnusable(Fatal):
    """The answer was unusable, and so was the repaired one; `tokens` is the usage of both."""

    failure = Failure.PARSE

    def __init__(self, message: str, *, tokens: Tokens) -> None:
        super().__init__(message)
        self.tokens = tokens


FAILURES = (ModelTimeout, ModelUnreachable, ModelPaused, ModelRefused, ModelMisconfigured, AnswerUnusable)
"""Errors of a call in which the model gave no answer that can be used, behind a circuit breaker."""
