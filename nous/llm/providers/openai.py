"""Build Chat Completions requests, parse replies, for OpenAI and compatible servers; no I/O.

Reference: https://platform.openai.com/docs/api-reference/chat
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from nous.llm import messages
from nous.llm.base import Question, Reply
from nous.llm.provider import Endpoint, keyed, placed

_HOST = "openai.com"


@dataclass(frozen=True, slots=True)
class ChatCompletions:
    """Chat Completions server, by default at *base_url*. Only OpenAI itself requires a key."""

    base_url: str
    path: str = "/chat/completions"

    def settled(self, endpoint: Endpoint) -> Endpoint:
        at = placed(endpoint, self.base_url)
        return keyed(at, is_needed=_is_openai(at))

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}

    def payload(self, question: Question, endpoint: Endpoint, *, structured: bool) -> Mapping[str, Any]:
        limit = "max_completion_tokens" if _is_openai(endpoint) else "max_tokens"
        conversation = [
            {"role": "system", "content": messages.system(question, structured=structured)},
            *messages.turns(question),
        ]
        payload = {"model": endpoint.model, "messages": conversation, limit: question.most_tokens}
        if not structured:
            return payload
        form = {"name": question.name, "schema": dict(question.schema), "strict": True}
        return {**payload, "response_format": {"type": "json_schema", "json_schema": form}}

    def read(self, answer: Mapping[str, Any], question: Question, endpoint: Endpoint) -> Reply:
        match answer.get("choices"):
            case [{"message": {"content": content}, **choice}, *_]:
                text = _text(content)
            case _:
                text, choice = "", {}
        usage = messages.usage(answer)
        return messages.answered(
            text,
            question,
            endpoint,
            read=usage.get("prompt_tokens"),
            written=usage.get("completion_tokens"),
            is_whole=choice.get("finish_reason") not in ("length", "content_filter"),
        )


PROVIDER = ChatCompletions(f"https://api.{_HOST}/v1")


def _text(content: Any) -> str:
    """Return the text of a message, which some servers send in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def _is_openai(endpoint: Endpoint) -> bool:
    host = urlsplit(endpoint.base_url or "").hostname or ""
    return host == _HOST or host.endswith(f".{_HOST}")
