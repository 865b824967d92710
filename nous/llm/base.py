"""The seam to language models: one method, and errors that say what the caller can do."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Protocol

import orjson

from nous.domain.episode import Tokens
from nous.domain.errors import Deferred, Fatal, Misconfigured, Retryable
from nous.domain.scope import Matter

LONGEST_EARLIER = 4_000
"""Characters of an answer that could not be used, which are shown again to who gave it."""


class Failure(StrEnum):
    """What went wrong with a call. A quota is a failure that says when to come back."""

    TIMEOUT = "timeout"
    TRANSPORT = "transport"
    QUOTA = "quota"
    PARSE = "parse"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Exchange:
    """An answer that could not be used, and what was said about it."""

    answer: str
    complaint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a model is asked, and about what, which it is not told.

    `schema` is the JSON schema of the answer, called `name`; `most_tokens` bounds the answer's length. `earlier` is
    what came of asking before, where this asks again.
    """

    matter: Matter
    system: str
    user: str
    name: str
    schema: Mapping[str, Any]
    most_tokens: int
    earlier: tuple[Exchange, ...] = ()

    @property
    def digest(self) -> str:
        """sha256, in hex, of all that the model is told. Two questions of one digest are one question."""
        told = [self.system, self.user, self.name, self.schema, self.most_tokens]
        asked_before = [[each.answer, each.complaint] for each in self.earlier]
        return sha256(orjson.dumps([told, asked_before], option=orjson.OPT_SORT_KEYS)).hexdigest()

    def again(self, answer: str, complaint: str) -> "Question":
        """The same question after an *answer* that could not be used, with the reason."""
        return replace(self, earlier=(*self.earlier, Exchange(answer[:LONGEST_EARLIER], complaint)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered: its text, which model it was, and the tokens that were counted.

    `is_whole` is false where the answer was cut off at its limit.
    """

    text: str
    model: str
    tokens: Tokens
    is_whole: bool = True


class Model(Protocol):
    """Answers questions. Safe to call from many threads at once.

    A call has a total deadline from when it is made; before that it may wait as long for its turn.
    """

    @property
    def id(self) -> str:
        """The provider and the model's name, such as `openai:gpt-5-mini`."""
        ...

    def ask(self, question: Question, /) -> Reply:
        """Answer *question*.

        Raises:
            ModelTimeout: there was no whole answer within the deadline.
            ModelUnreachable: the provider was not reached, broke off, or failed on its side.
            ModelBusy: too many others ask; nothing was asked, and nothing is held against the question.
            ModelQuota: the provider has said when to come back.
            ModelPaused: nobody may ask until a given time: the provider said so, or has failed before.
            ModelRefused: the provider will not answer this question, however often it is asked.
            ModelMisconfigured: it will answer none, until the operator has changed something.
        """
        ...


class ModelTimeout(Retryable):
    """A call was not through within its total deadline."""

    failure = Failure.TIMEOUT


class ModelUnreachable(Retryable):
    """A provider was not reached, broke off, failed on its side, or has had enough and does not say for how long."""

    def __init__(self, message: str, *, failure: Failure = Failure.TRANSPORT) -> None:
        super().__init__(message)
        self.failure = failure


class ModelPaused(Deferred):
    """A provider is left alone until a given time, because of *failure*; it has not answered since *since*."""

    def __init__(self, message: str, *, until: datetime, since: datetime, failure: Failure) -> None:
        super().__init__(message, until=until)
        self.since = since
        self.failure = failure


class AllowanceSpent(ModelPaused):
    """The tokens that a scope may use a day are spent. Whoever waits looks again sooner: more may be given."""


class ModelQuota(Deferred):
    """A provider has had enough for now, and said when to come back."""

    failure = Failure.QUOTA


class ModelBusy(Deferred):
    """As many calls as may be are in flight, and none came to its end in time. Nothing was asked."""


class ModelRefused(Fatal):
    """A provider will not answer this question, though it may answer others."""

    failure = Failure.OTHER


class ModelMisconfigured(Misconfigured):
    """A provider will answer nothing: the key, the account, the address or the model's name has to be changed."""

    failure = Failure.OTHER


class AnswerUnusable(Fatal):
    """A model has answered, and again when it was told what was wrong, and it is no answer to the question.

    `tokens` is what that has cost.
    """

    failure = Failure.PARSE

    def __init__(self, message: str, *, tokens: Tokens) -> None:
        super().__init__(message)
        self.tokens = tokens
