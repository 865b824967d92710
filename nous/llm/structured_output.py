"""Ask a model and parse its answer; after a complaint, ask once more with it."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import structlog

from nous.domain.episode import Tokens
from nous.domain.errors import BadInput
from nous.llm.base import AnswerUnusable, Failure, Model, ModelMisconfigured, ModelRefused, Question
from nous.llm.state import UsageCounters

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredAnswer(Generic[T]):
    """The parsed answer of a *model*, and the usable `draft` that it was asked to improve."""

    value: T
    model: str
    tokens: Tokens
    draft: T | None = None


class Improvable(BadInput, Generic[T]):
    """The answer can be used, but lacks something: `value` is what it says."""

    def __init__(self, complaint: str, *, value: T) -> None:
        super().__init__(complaint)
        self.value = value


class Parser(Protocol[T_co]):
    def __call__(self, text: str, /, *, is_whole: bool, coerce: bool) -> T_co:
        """Return the value of *text*, an approximate one too with *coerce*: no retry is left then.

        Raises `BadInput` if it is no answer, and `Improvable` if it is a poor one; the message is a complaint that can
        be sent to the model.
        """
        ...


def ask(model: Model, question: Question, read: Parser[T], *, counters: UsageCounters) -> StructuredAnswer[T]:
    """Ask *model*, and once more with the complaint if *read* has one.

    Raises `AnswerUnusable` if *read* cannot use either answer, and what `Model.ask` raises; a refusal, only at first.
    """
    tokens, complaint, draft = Tokens(), "", None
    for is_last in (False, True):
        try:
            reply = model.ask(question)
        except (ModelRefused, ModelMisconfigured):
            if draft is None:
                raise
            break
        tokens += reply.tokens
        try:
            value = read(reply.text, is_whole=reply.is_whole, coerce=is_last and draft is None)
            return StructuredAnswer(value=value, model=reply.model, tokens=tokens, draft=draft)
        except Improvable as error:
            if draft is not None:
                return StructuredAnswer(value=error.value, model=reply.model, tokens=tokens, draft=draft)
            draft, complaint = error.value, str(error)
        except (BadInput, RecursionError) as error:
            complaint = str(error) if isinstance(error, BadInput) else "it is nested too deeply"
        question = question.again(reply.text, complaint)
    counters.count(model.id, **{f"failed_{Failure.PARSE}": 1})
    log.warning("model.response_unusable", model=model.id, failure=Failure.PARSE, complaint=complaint)
    if draft is not None:
        return StructuredAnswer(value=draft, model=model.id, tokens=tokens)
    raise AnswerUnusable(f"{model.id} gave no answer that can be used: {complaint}", tokens=tokens)
