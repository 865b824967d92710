"""OpenAI provider, and the base of all servers that speak its Chat Completions API.

Reference: https://platform.openai.com/docs/api-reference/chat
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from nous.llm import messages
from nous.llm.base import Question, Reply
from nous.llm.error_mapping import unreachable
from nous.llm.messages import strict
from nous.llm.provider import Endpoint, keyed, placed

_HOST = "openai.com"


@dataclass(frozen=True, slots=True)
class ChatCompletions:
    """A server of that protocol, at *base_url* by default. Only OpenAI itself requires a key."""

    base_url: str
    path: str = "/chat/completions"

    def settled(self, endpoint: Endpoint) -> Endpoint:
        at = placed(endpoint, self.base_url)
        return keyed(at, is_needed=_is_openai(at))

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}

    def payload(self, question: Question, endpoint: Endpoint, *, structured: bool) -> Mapping[str, Any]:
        return _payload(question, endpoint, structured=structured)

    def read(self, body: bytes, question: Question, endpoint: Endpoint) -> Reply:
        return _read(body, question, endpoint)


PROVIDER = ChatCompletions(f"https://api.{_HOST}/v1")


def _payload(question: Question, endpoint: Endpoint, *, structured: bool) -> dict[str, Any]:
    limit = "max_completion_tokens" if _is_openai(endpoint) else "max_tokens"
    conversation = [
        {"role": "system", "content": messages.system(question, structured=structured)},
        *messages.turns(question),
    ]
    payload = {"model": endpoint.model, "messages": conversation, limit: question.most_tokens}
    if not structured:
        return payload
    closed = strict(question.schema)
    form = {"name": question.name, "schema": closed or dict(question.schema), "strict": closed is not None}
    return {**payload, "response_format": {"type": "json_schema", "json_schema": form}}


def _read(body: bytes, question: Question, endpoint: Endpoint) -> Reply:
    found = messages.json_object(body)
    if found is None:
        raise unreachable(endpoint, question, "what it sent is not JSON")
    if "choices" not in found and found.get("error"):
        raise unreachable(endpoint, question, "it sent an error as if it were an answer")
    match found.get("choices"):
        case [{"message": {"content": content}, **choice}, *_]:
            text = _text(content)
        case _:
            text, choice = "", {}
    usage = found.get("usage")
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens")) if isinstance(usage, dict) else (None, None)
    is_whole = choice.get("finish_reason") not in ("length", "content_filter")
    return messages.answered(text, counts, question, endpoint, is_whole=is_whole)


def _text(content: Any) -> str:
    """Return the text of a message, which some servers send in parts."""
    match content:
        case str():
            return content
        case list():
            return "".join(part["text"] for part in content if _is_text(part))
        case _:
            return ""


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)


def _is_openai(endpoint: Endpoint) -> bool:
    host = urlsplit(endpoint.base_url or "").hostname or ""
    return host == _HOST or host.endswith(f".{_HOST}")
