"""Provider-neutral request messages, strict JSON schemas, and token usage of replies."""

import json
from collections.abc import Mapping
from typing import Any

import orjson

from nous.domain.episode import Tokens
from nous.llm.base import Question, Reply
from nous.llm.provider import Endpoint
from nous.text.token_estimate import estimate

Schema = Mapping[str, Any]

_KEPT = frozenset({"type", "enum", "const", "description", "title"})
"""Keywords that mean the same to every provider. Others, such as minLength or default, are for us to check."""

_OPEN = frozenset({"allOf", "not", "if", "then", "else", "patternProperties", "prefixItems", "dependentSchemas"})
"""Keywords that strict schemas do not support and that cannot be dropped without changing the meaning."""


class _Loose(Exception):
    """The schema has no strict form."""


def strict(schema: Schema) -> dict[str, Any] | None:
    """Return *schema* as providers accept it for strict structured output; None if impossible.

    Every object is closed and has all its properties: the schema has to say when a model may leave one empty. Keywords
    that only narrow a value are dropped, so a strict answer may still break *schema*. Not expressible: objects with
    arbitrary keys, values of any type, tuples, and a root that is not an object.
    """
    try:
        found = _node(schema)
    except _Loose:
        return None
    return found if found.get("type") == "object" else None


def instruction(schema: Schema) -> str:
    """Return *schema* as an instruction, for a model without structured output."""
    return (
        "Answer with one JSON value and nothing else: no words before or after it, no code fence. "
        f"It must match this JSON schema:\n{orjson.dumps(schema, option=orjson.OPT_NON_STR_KEYS).decode()}"
    )


def _node(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or _OPEN & set(schema):
        raise _Loose
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}  # strict schemas allow no other keyword beside it
    found = {name: value for name, value in schema.items() if name in _KEPT}
    choices = schema.get("anyOf", schema.get("oneOf"))
    if choices is not None:
        found["anyOf"] = [_node(choice) for choice in choices]
    elif not {"type", "enum", "const"} & set(found):
        raise _Loose
    return found | _object(schema) | _array(schema) | _definitions(schema)


def _object(schema: Schema) -> dict[str, Any]:
    if "properties" not in schema and not _is_a(schema, "object"):
        return {}
    properties = schema.get("properties", {})
    if not properties or schema.get("additionalProperties", False) is not False:
        raise _Loose
    closed = {name: _node(value) for name, value in properties.items()}
    return {"properties": closed, "required": list(closed), "additionalProperties": False}


def _array(schema: Schema) -> dict[str, Any]:
    return {"items": _node(schema.get("items"))} if _is_a(schema, "array") else {}


def _definitions(schema: Schema) -> dict[str, Any]:
    names = [name for name in ("$defs", "definitions") if name in schema]
    return {name: {each: _node(value) for each, value in schema[name].items()} for name in names}


def _is_a(schema: Schema, kind: str) -> bool:
    found = schema.get("type")
    return found == kind or (isinstance(found, list) and kind in found)


_MOST_TOKENS = 10**8
"""The most tokens of one call; a server's count beyond that is implausible."""


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
    """Return the JSON object in *body*, or None."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        found = _leniently(body)
    return found if isinstance(found, dict) else None


def _leniently(body: bytes) -> Any:
    """Parse *body* with Python's `json`, which accepts lone surrogates and NaN.

    Some servers write half of an emoji where they cut an answer, or NaN for a count.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def answered(text: str, usage: tuple[Any, Any], question: Question, endpoint: Endpoint, *, is_whole: bool) -> Reply:
    """Return the reply with *text*; *usage* is the server's count of input and output tokens.

    A missing or implausible count is estimated. An answer without any text is never whole.
    """
    text = _encodable(text)
    read, written = (count if _is_count(count) else None for count in usage)
    tokens = Tokens(_estimated(question) if read is None else read, estimate(text) if written is None else written)
    return Reply(text=text, model=endpoint.id, tokens=tokens, is_whole=is_whole and bool(text.strip()))


def too_large(question: Question, endpoint: Endpoint) -> Reply:
    """Return the reply for an answer too large to be read; its tokens count as the maximum."""
    return answered("", (None, question.most_tokens), question, endpoint, is_whole=False)


def _estimated(question: Question) -> int:
    sent = [system(question, structured=False), *(turn["content"] for turn in turns(question))]
    return sum(map(estimate, sent))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS


def _encodable(text: str) -> str:
    """Return *text* without lone surrogates, which JSON can carry and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
