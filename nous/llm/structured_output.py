"""A question until there is an answer that can be used: once, and once more with what was wrong."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import structlog

from nous.domain.episode import Tokens
from nous.domain.errors import BadInput
from nous.llm.base import AnswerUnusable, Failure, Model, Question
from nous.llm.state import Tally

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[T]):
    """What a model's words were understood as, which model it was, and what all of its words have cost."""

    value: T
    model: str
    tokens: Tokens


class Reading(Protocol[T_co]):
    """Makes sense of a model's words."""

    def __call__(self, text: str, /, *, is_whole: bool, coerce: bool) -> T_co:
        """What *text* says; with *coerce*, what can be taken for something is, since nobody will be asked again.

        Raises:
            BadInput: it is no answer; the text is a complaint that the model can be told.
        """
        ...


def ask(model: Model, question: Question, read: Reading[T], *, tally: Tally) -> Answer[T]:
    """Ask *model*, and once more if *read* cannot use what it says.

    Raises:
        AnswerUnusable: it cannot use the second answer either.
        Retryable, Deferred, ModelRefused: as `Model.ask` does.
    """
    reply = model.ask(question)
    try:
        return Answer(
            value=read(reply.text, is_whole=reply.is_whole, coerce=False), model=reply.model, tokens=reply.tokens
        )
    except BadInput as complaint:
        second = model.ask(question.again(reply.text, str(complaint)))
    tokens = reply.tokens + second.tokens
    try:
        return Answer(value=read(second.text, is_whole=second.is_whole, coerce=True), model=second.model, tokens=tokens)
    except BadInput as complaint:
        tally.count(model.id, **{f"failed_{Failure.PARSE}": 1})
        log.warning(
            "the model's answer cannot be used", model=model.id, failure=Failure.PARSE, complaint=str(complaint)
        )
        raise AnswerUnusable(f"{model.id} gave no answer that can be used: {complaint}", tokens=tokens) from None
