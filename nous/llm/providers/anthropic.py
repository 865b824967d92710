"""Anthropic. An answer is held to its schema by having the model call a tool that takes it.

Reference: https://docs.anthropic.com/en/api/messages
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from nous.llm import messages
from nous.llm.base import Question, Reply
from nous.llm.error_mapping import unreachable
from nous.llm.provider import Endpoint, keyed, placed

_VERSION = "2023-06-01"
_CUT = ("max_tokens", "model_context_window_exceeded", "refusal")
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


@dataclass(frozen=True, slots=True)
class Messages:
    """Anthropic's messages, or a server of that protocol, which needs no key unless it says so."""

    base_url: str
    path: str = "/v1/messages"

    def settled(self, endpoint: Endpoint) -> Endpoint:
        at = placed(endpoint, self.base_url)
        return keyed(at, is_needed=at.base_url == self.base_url)

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        key = {"x-api-key": endpoint.api_key} if endpoint.api_key else {}
        return {"anthropic-version": _VERSION, **key}

    def payload(self, question: Question, endpoint: Endpoint, *, structured: bool) -> Mapping[str, Any]:
        return _payload(question, endpoint, structured=structured)

    def read(self, body: bytes, question: Question, endpoint: Endpoint) -> Reply:
        return _read(body, question, endpoint)


PROVIDER = Messages("https://api.anthropic.com")


def _payload(question: Question, endpoint: Endpoint, *, structured: bool) -> dict[str, Any]:
    payload = {
        "model": endpoint.model,
        "system": messages.system(question, structured=structured),
        "messages": messages.turns(question),
        "max_tokens": question.most_tokens,
    }
    if not structured:
        return payload
    tool = {"name": question.name, "description": "Takes the answer.", "input_schema": dict(question.schema)}
    choice = {"type": "tool", "name": question.name, "disable_parallel_tool_use": True}
    return {**payload, "tools": [tool], "tool_choice": choice}


def _read(body: bytes, question: Question, endpoint: Endpoint) -> Reply:
    found = messages.json_object(body)
    if found is None:
        raise unreachable(endpoint, question, "what it sent is not JSON")
    if "content" not in found and found.get("error"):
        raise unreachable(endpoint, question, "it sent an error as if it were an answer")
    usage = found.get("usage")
    counts = (_read_tokens(usage), usage.get("output_tokens")) if isinstance(usage, dict) else (None, None)
    is_whole = found.get("stop_reason") not in _CUT
    return messages.answered(_text(found.get("content")), counts, question, endpoint, is_whole=is_whole)


def _text(content: Any) -> str:
    """What the tool was called with, or else what was said."""
    said: list[str] = []
    for block in content if isinstance(content, list) else []:
        match block:
            case {"type": "tool_use", "input": dict() as given}:
                return _as_text(given)
            case {"type": "text", "text": str() as text}:
                said.append(text)
            case _:
                pass
    return "".join(said)


def _as_text(given: dict[str, Any]) -> str:
    """*given* as JSON, which may hold half of an emoji; nothing of what is nested so deep that nobody can write it."""
    try:
        return orjson.dumps(given).decode()
    except TypeError:
        pass
    try:
        return json.dumps(given, ensure_ascii=False)
    except RecursionError:
        return ""


def _read_tokens(usage: dict[str, Any]) -> int | None:
    """All that was read, from the cache or not. Those that are not told are none, but one at least has to be told."""
    counts = [usage[name] for name in _READ if isinstance(usage.get(name), int)]
    return sum(counts) if counts else None
