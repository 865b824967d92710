"""Anthropic adapter: build Messages API requests (forced tool call), parse replies; no I/O.

Reference: https://docs.anthropic.com/en/api/messages
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nous.llm import messages
from nous.llm.base import Question, Reply
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

    def read(self, answer: Mapping[str, Any], question: Question, endpoint: Endpoint) -> Reply:
        usage = messages.usage(answer)
        read = [usage[name] for name in _READ if messages.is_count(usage.get(name))]
        return messages.answered(
            _text(answer.get("content")),
            question,
            endpoint,
            read=sum(read) if read else None,
            written=usage.get("output_tokens"),
            is_whole=answer.get("stop_reason") not in _CUT,
        )


PROVIDER = Messages("https://api.anthropic.com")


def _text(content: Any) -> str:
    """Return the tool call's input as JSON, or else the text."""
    said: list[str] = []
    for block in content if isinstance(content, list) else []:
        match block:
            case {"type": "tool_use", "input": dict() as given}:
                return json.dumps(given, ensure_ascii=False, separators=(",", ":"))
            case {"type": "text", "text": str() as text}:
                said.append(text)
            case _:
                pass
    return "".join(said)
