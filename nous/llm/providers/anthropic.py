"""Anthropic provider: Messages API; structured output by a forced tool call.

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
    """Anthropic's API, or a server of the same protocol, which needs no key by default."""

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
    """Return the tool call's input as JSON, or else the text."""
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
    """Return *given* as JSON; empty if it is nested too deep to be serialized.

    It may hold half of an emoji, which orjson rejects.
    """
    try:
        return orjson.dumps(given).decode()
    except TypeError:
        pass
    try:
        return json.dumps(given, ensure_ascii=False)
    except RecursionError:
        return ""


def _read_tokens(usage: dict[str, Any]) -> int | None:
    """Return all input tokens, cached or not; None if the server reports none of the counts."""
    counts = [usage[name] for name in _READ if isinstance(usage.get(name), int)]
    return sum(counts) if counts else None
