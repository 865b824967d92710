"""Helpers for LLM providers: chat messages from a question, `Reply` from text and usage."""

import json
from collections.abc import Mapping
from typing import Any

import orjson
from typing_extensions import TypeIs

from nous.domain.episode import Tokens
from nous.llm.base import Question, Reply
from nous.llm.provider import Endpoint
from nous.text.token_estimate import estimate

_MOST_TOKENS = 10**9  # tokens of one call at most; a higher count would overflow the counters that add them up


def instruction(schema: Mapping[str, Any]) -> str:
    return (
        "Answer with one JSON value and nothing else: no words before or after it, no code fence. "
        f"It must match this JSON schema:\n{orjson.dumps(schema).decode()}"
    )


def system(question: Question, *, structured: bool) -> str:
    """Return the system message; the schema is part of it unless *structured* output carries it."""
    return _encodable(question.system if structured else f"{question.system}\n\n{instruction(question.schema)}")


def turns(question: Question) -> list[dict[str, str]]:
    """Return the user message, then each unusable answer and the complaint about it."""
    said = [("user", question.user)]
    for each in question.earlier:
        # Some providers reject an empty message.
        said += [("assistant", each.answer.strip() or "(nothing)"), ("user", each.complaint)]
    return [{"role": role, "content": _encodable(text)} for role, text in said]


def json_object(body: bytes) -> dict[str, Any] | None:
    """Return the JSON object in *body*, or None.

    Python's `json` accepts what some servers write: half of an emoji where they cut an answer, or NaN for a count.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def answered(text: str, question: Question, endpoint: Endpoint, *, read: Any, written: Any, is_whole: bool) -> Reply:
    """Return the reply with *text*, never whole if blank; estimate missing or invalid counts."""
    text = _encodable(text)
    sent = (system(question, structured=False), *question.texts[1:])
    tokens = Tokens(
        read if is_count(read) else sum(map(estimate, sent)), written if is_count(written) else estimate(text)
    )
    return Reply(text=text, model=endpoint.id, tokens=tokens, is_whole=is_whole and bool(text.strip()))


def usage(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the usage that *answer* states; an empty one if it is no object."""
    found = answer.get("usage")
    return found if isinstance(found, dict) else {}


def is_count(found: Any) -> TypeIs[int]:
    return isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= _MOST_TOKENS


def _encodable(text: str) -> str:
    """Return *text* without lone surrogates, which JSON can carry and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
