"""OpenAI, and whoever else speaks its chat completions."""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from nous.errors import Misconfigured
from nous.llm import talk
from nous.llm.base import Question, Reply
from nous.llm.endpoint import Client, Clock, Endpoint, keyed, placed
from nous.llm.failures import Refusal, refused, timed_out, unreachable
from nous.llm.schemas import strict

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_HOST = "openai.com"


@dataclass(frozen=True, slots=True)
class ChatCompletions:
    """A server of that protocol, at *base_url* if the settings name no other. Only OpenAI itself insists on a key."""

    base_url: str

    def settled(self, endpoint: Endpoint) -> Endpoint:
        at = placed(endpoint, self.base_url)
        return keyed(at, is_needed=_is_openai(at))

    def load(self) -> None:
        try:
            import_module("openai")
            import_module("nous.llm.wire")
        except ImportError as error:
            raise Misconfigured("models of openai need nous[llm]; run: pip install 'nous[llm]'") from error

    def open(self, endpoint: Endpoint, clock: Clock) -> Client:
        from openai import AsyncOpenAI  # noqa: PLC0415 (see `load`)

        from nous.llm.wire import http_client  # noqa: PLC0415

        sdk = AsyncOpenAI(
            api_key=endpoint.api_key,
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=endpoint.deadline,
            http_client=http_client(endpoint),
        )
        sdk.organization = sdk.project = None  # it has them from the environment, and would tell any server
        return _Client(endpoint, clock, sdk)


PROVIDER = ChatCompletions(f"https://api.{_HOST}/v1")


@dataclass(frozen=True, slots=True)
class _Client:
    endpoint: Endpoint
    clock: Clock
    sdk: "AsyncOpenAI"

    async def ask(self, question: Question, *, structured: bool) -> Reply:
        body = await self._posted(question, structured=structured)
        return talk.too_large(question, self.endpoint) if body is None else _read(body, question, self.endpoint)

    async def close(self) -> None:
        await self.sdk.close()

    async def _posted(self, question: Question, *, structured: bool) -> bytes | None:
        """The answer's body, or None if it is too large.

        Errors of the SDK are not named as the cause of ours: they hold the question, which would get into logs.
        """
        import httpx2  # noqa: PLC0415 (comes with the SDK)
        import openai  # noqa: PLC0415

        from nous.llm.wire import TooLarge  # noqa: PLC0415

        payload = _payload(question, self.endpoint, structured=structured)
        try:
            response = await self.sdk.post("/chat/completions", cast_to=httpx2.Response, body=payload)
        except openai.APITimeoutError:
            raise timed_out(self.endpoint) from None
        except openai.APIStatusError as error:
            refusal = Refusal(error.status_code, error.response.headers, error.response.content)
            raise refused(refusal, self.endpoint, question, structured=structured, now=self.clock()) from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, TooLarge):
                return None
            raise unreachable(self.endpoint, question, error.__cause__) from None
        return response.content


def _payload(question: Question, endpoint: Endpoint, *, structured: bool) -> dict[str, Any]:
    limit = "max_completion_tokens" if _is_openai(endpoint) else "max_tokens"
    messages = [{"role": "system", "content": talk.system(question, structured=structured)}, *talk.turns(question)]
    payload = {"model": endpoint.model, "messages": messages, limit: question.most_tokens}
    if not structured:
        return payload
    closed = strict(question.schema)
    form = {"name": question.name, "schema": closed or dict(question.schema), "strict": closed is not None}
    return {**payload, "response_format": {"type": "json_schema", "json_schema": form}}


def _read(body: bytes, question: Question, endpoint: Endpoint) -> Reply:
    found = talk.json_object(body)
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
    return talk.answered(text, counts, question, endpoint, is_whole=is_whole)


def _text(content: Any) -> str:
    """The text of a message, which some servers send in parts."""
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
