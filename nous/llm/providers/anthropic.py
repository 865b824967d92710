"""Anthropic. An answer is held to its schema by having the model call a tool that takes it."""

import logging
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson

from nous.errors import Misconfigured
from nous.llm import talk
from nous.llm.base import Question, Reply
from nous.llm.endpoint import Client, Clock, Endpoint, keyed, placed
from nous.llm.failures import Refusal, refused, timed_out, unreachable

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_CUT = ("max_tokens", "model_context_window_exceeded", "refusal")
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Messages:
    """Anthropic's messages, or a server of that protocol, which needs no key unless it says so."""

    base_url = "https://api.anthropic.com"

    def settled(self, endpoint: Endpoint) -> Endpoint:
        at = placed(endpoint, self.base_url)
        return keyed(at, is_needed=at.base_url == self.base_url)

    def load(self) -> None:
        try:
            import_module("anthropic")
            import_module("nous.llm.wire")
        except ImportError as error:
            raise Misconfigured("models of anthropic need nous[llm]; run: pip install 'nous[llm]'") from error
        logging.getLogger("anthropic").setLevel(logging.INFO)  # below that, it writes down whole questions

    def open(self, endpoint: Endpoint, clock: Clock) -> Client:
        from anthropic import AsyncAnthropic  # noqa: PLC0415 (see `load`)

        from nous.llm.wire import http_client  # noqa: PLC0415

        sdk = AsyncAnthropic(
            api_key=endpoint.api_key,
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=endpoint.deadline,
            http_client=http_client(endpoint),
            open_telemetry=False,
        )
        return _Client(endpoint, clock, sdk)


PROVIDER = Messages()


@dataclass(frozen=True, slots=True)
class _Client:
    endpoint: Endpoint
    clock: Clock
    sdk: "AsyncAnthropic"

    async def ask(self, question: Question, *, structured: bool) -> Reply:
        body = await self._posted(question, structured=structured)
        return talk.too_large(question, self.endpoint) if body is None else _read(body, question, self.endpoint)

    async def close(self) -> None:
        await self.sdk.close()

    async def _posted(self, question: Question, *, structured: bool) -> bytes | None:
        """The answer's body, or None if it is too large.

        Errors of the SDK are not named as the cause of ours: they hold the question, which would get into logs.
        """
        import anthropic  # noqa: PLC0415 (an extra)
        import httpx2  # noqa: PLC0415 (comes with it)

        from nous.llm.wire import TooLarge  # noqa: PLC0415

        payload = _payload(question, self.endpoint, structured=structured)
        try:
            response = await self.sdk.post("/v1/messages", cast_to=httpx2.Response, body=payload)
        except anthropic.APITimeoutError:
            raise timed_out(self.endpoint) from None
        except anthropic.APIStatusError as error:
            refusal = Refusal(error.status_code, error.response.headers, error.response.content)
            raise refused(refusal, self.endpoint, question, structured=structured, now=self.clock()) from None
        except anthropic.APIConnectionError as error:
            if isinstance(error.__cause__, TooLarge):
                return None
            raise unreachable(self.endpoint, question, error.__cause__) from None
        return response.content


def _payload(question: Question, endpoint: Endpoint, *, structured: bool) -> dict[str, Any]:
    payload = {
        "model": endpoint.model,
        "system": talk.system(question, structured=structured),
        "messages": talk.turns(question),
        "max_tokens": question.most_tokens,
    }
    if not structured:
        return payload
    tool = {"name": question.name, "description": "Takes the answer.", "input_schema": dict(question.schema)}
    choice = {"type": "tool", "name": question.name, "disable_parallel_tool_use": True}
    return {**payload, "tools": [tool], "tool_choice": choice}


def _read(body: bytes, question: Question, endpoint: Endpoint) -> Reply:
    found = talk.json_object(body)
    if found is None:
        raise unreachable(endpoint, question, "what it sent is not JSON")
    if "content" not in found and found.get("error"):
        raise unreachable(endpoint, question, "it sent an error as if it were an answer")
    usage = found.get("usage")
    counts = (_read_tokens(usage), usage.get("output_tokens")) if isinstance(usage, dict) else (None, None)
    is_whole = found.get("stop_reason") not in _CUT
    return talk.answered(_text(found.get("content")), counts, question, endpoint, is_whole=is_whole)


def _text(content: Any) -> str:
    """What the tool was called with, or else what was said."""
    said: list[str] = []
    for block in content if isinstance(content, list) else []:
        match block:
            case {"type": "tool_use", "input": dict() as given}:
                return orjson.dumps(given).decode()
            case {"type": "text", "text": str() as text}:
                said.append(text)
            case _:
                pass
    return "".join(said)


def _read_tokens(usage: dict[str, Any]) -> int | None:
    """All that was read, from the cache or not. Those that are not told are none, but one at least has to be told."""
    counts = [usage[name] for name in _READ if isinstance(usage.get(name), int)]
    return sum(counts) if counts else None
