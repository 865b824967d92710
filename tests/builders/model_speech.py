"""Answers in the protocols of OpenAI and Anthropic, from the bodies of requests."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import orjson

from builders.model_faults import HUGE_VECTORS, Said, spoilt_text, spoilt_vectors

READ, WRITTEN = 11, 7
"""The tokens that every answer is said to have taken."""
DIMENSIONS = 8


def user_text(body: dict[str, Any]) -> str:
    """What the user said first; of a request for vectors, its texts, one a line."""
    said = [message for message in body.get("messages", []) if message["role"] == "user"]
    return said[0]["content"] if said else "\n".join(_texts(body))


def answer(path: str, body: dict[str, Any], fault: str | None, text: Callable[[], str]) -> bytes:
    """The body of the answer to a request of *text* at *path*, spoilt by *fault* if that is one of texts."""
    said = spoilt_text(fault, text())
    return orjson.dumps(_message(body, said) if path.endswith("/messages") else _completion(body, said))


def vector(text: str) -> list[float]:
    """The vector of *text*: made of its hash, so it is the same every time and means nothing."""
    return [byte / 255 for byte in sha256(text.encode()).digest()[:DIMENSIONS]]


def _completion(body: dict[str, Any], said: Said) -> dict[str, Any]:
    usage = {"prompt_tokens": READ, "completion_tokens": WRITTEN, "total_tokens": READ + WRITTEN}
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": said.text},
        "finish_reason": "length" if said.is_cut else "stop",
    }
    found = {"id": "c1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
    return {**found, "usage": usage} if said.is_counted else found


def _message(body: dict[str, Any], said: Said) -> dict[str, Any]:
    found = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [_block(body, said)] if said.text else [],
        "stop_reason": "max_tokens" if said.is_cut else "end_turn",
    }
    usage = {"input_tokens": READ - 1, "cache_read_input_tokens": 1, "output_tokens": WRITTEN}
    return {**found, "usage": usage} if said.is_counted else found


def _block(body: dict[str, Any], said: Said) -> dict[str, Any]:
    """A call of the tool, if there is one that takes what was said; a text otherwise."""
    given = _object(said.text) if body.get("tools") else None
    if given is None:
        return {"type": "text", "text": said.text}
    return {"type": "tool_use", "id": "t1", "name": body["tools"][0]["name"], "input": given}


def vectors(body: dict[str, Any], fault: str | None, vector: Callable[[str], Sequence[float]]) -> bytes:
    """The body of the answer to a request of vectors, spoilt by *fault*."""
    rows = spoilt_vectors(fault, [list(vector(text)) for text in _texts(body)])
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in rows]
    usage = {"prompt_tokens": READ, "total_tokens": READ}
    said = orjson.dumps({"object": "list", "model": body["model"], "data": data, "usage": usage})
    return said.rjust(HUGE_VECTORS) if fault == "huge" else said


def _texts(body: dict[str, Any]) -> list[str]:
    given = body.get("input", [])
    return [given] if isinstance(given, str) else given


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None
