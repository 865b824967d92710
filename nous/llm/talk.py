"""What every provider is told and asked for alike: the words of a question, and the tokens of an answer."""

import json
from typing import Any

import orjson

from nous.episode import Tokens
from nous.llm.base import Question, Reply
from nous.llm.endpoint import Endpoint
from nous.llm.schemas import instruction
from nous.tokens import estimate

_MOST_TOKENS = 10**8
"""Of one call. What a server claims beyond that is no count."""


def system(question: Question, *, structured: bool) -> str:
    """The system's words, with the schema in words unless the provider has it otherwise (*structured*)."""
    return _encodable(question.system if structured else f"{question.system}\n\n{instruction(question.schema)}")


def turns(question: Question) -> list[dict[str, str]]:
    """The user's words, then each answer that could not be used with what was said about it."""
    said = [("user", question.user)]
    for each in question.earlier:
        # Some providers turn down a message without words.
        said += [("assistant", each.answer.strip() or "(nothing)"), ("user", each.complaint)]
    return [{"role": role, "content": _encodable(text)} for role, text in said]


def json_object(body: bytes) -> dict[str, Any] | None:
    """The object that *body* is in JSON, or None."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        found = _leniently(body)
    return found if isinstance(found, dict) else None


def _leniently(body: bytes) -> Any:
    """What Python makes of *body*: some servers write half of an emoji where they cut an answer, or NaN for a count."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def answered(text: str, usage: tuple[Any, Any], question: Question, endpoint: Endpoint, *, is_whole: bool) -> Reply:
    """The reply of *text*. *usage* is what the server told of tokens read and written; what is no count is estimated.

    An answer without any text is never whole.
    """
    text = _encodable(text)
    read, written = (count if _is_count(count) else None for count in usage)
    tokens = Tokens(_estimated(question) if read is None else read, estimate(text) if written is None else written)
    return Reply(text=text, model=endpoint.id, tokens=tokens, is_whole=is_whole and bool(text.strip()))


def too_large(question: Question, endpoint: Endpoint) -> Reply:
    """What to take an answer for that was too large to be read. Nobody counted its tokens: they are taken to be all."""
    return answered("", (None, question.most_tokens), question, endpoint, is_whole=False)


def _estimated(question: Question) -> int:
    told = [system(question, structured=False), *(turn["content"] for turn in turns(question))]
    return sum(map(estimate, told))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS


def _encodable(text: str) -> str:
    """*text* without lone surrogates, which JSON can carry and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
