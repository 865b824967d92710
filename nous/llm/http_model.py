"""HTTP client for LLMs: post JSON within a deadline, by the protocol of each provider."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import cache, partial
from importlib import import_module
from threading import Semaphore
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from nous.domain.errors import Misconfigured
from nous.domain.plug_ins import PlugIns
from nous.llm import messages, providers
from nous.llm.base import ModelBusy, ModelMisconfigured, Question, Reply
from nous.llm.error_mapping import Asked, Refusal, refused, timed_out, unreachable
from nous.llm.provider import Clock, Endpoint, Provider, StructureRefused

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx2

T = TypeVar("T")

LARGEST_BODY = 4 * 1024 * 1024  # the most bytes of an answer that are read, by default
_GRACE = 2.0  # seconds beyond the deadline for a busy process to report the timeout itself


class Transport:
    """HTTP client of an endpoint. Thread-safe.

    A call waits up to the endpoint's deadline for a free slot, and then has that long again to be answered. Every call
    has a thread, an event loop and a connection of its own. So its deadline is a total one, callers may run an event
    loop themselves, and forked children share nothing. A call takes seconds, a connection milliseconds.
    """

    def __init__(self, endpoint: Endpoint, *, clock: Clock, largest: int = LARGEST_BODY) -> None:
        """Open nothing yet; *largest* limits the bytes of an answer."""
        self._endpoint = endpoint
        self._clock = clock
        self._largest = largest
        self._slots = Semaphore(endpoint.concurrency)

    def call(self, send: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return what *send* does, which may post several times.

        Raises:
            Misconfigured: the extra `llm` is not installed.
            ModelMisconfigured: the proxy or the certificates that the environment names cannot be used.
            ModelBusy, ModelTimeout, ModelUnreachable: there was no answer; and what *send* raises.
        """
        endpoint = self._endpoint
        try:
            import_module("httpx2")
            trusted_certificates()  # takes a moment the first time, which is not part of the deadline
        except ImportError as error:
            raise Misconfigured(f"{endpoint.id} needs the extra nous-bus[llm]: install it beside nous") from error
        if not self._slots.acquire(timeout=endpoint.deadline):
            text = f"{endpoint}: all {endpoint.concurrency} calls that may be in flight are"
            raise ModelBusy(text, until=self._clock() + timedelta(seconds=endpoint.deadline / 4))
        thread = ThreadPoolExecutor(1, thread_name_prefix="nous-llm")
        try:
            return thread.submit(asyncio.run, self._in_time(send)).result(endpoint.deadline + _GRACE)
        except TimeoutError:  # a name look-up cannot be cancelled
            raise timed_out(endpoint) from None
        finally:
            thread.shutdown(wait=False)
            self._slots.release()

    async def post(
        self, path: str, payload: object, *, headers: Mapping[str, str], asked: Asked, structured: bool = False
    ) -> bytes:
        """Post *payload* as JSON and return the response body.

        HTTP errors are not chained to ours: they hold the question, and causes are logged.
        """
        import httpx2  # noqa: PLC0415 (an extra)

        endpoint = self._endpoint
        try:
            refusal = await self._exchanged(f"{endpoint.base_url}{path}", payload, headers)
        except httpx2.TimeoutException:
            raise timed_out(endpoint) from None
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise unreachable(endpoint, asked, error) from None
        if not 200 <= refusal.status < 300:
            raise refused(refusal, endpoint, asked, structured=structured, now=self._clock())
        if len(refusal.body) > self._largest:
            raise unreachable(endpoint, asked, f"it sent more than {self._largest} bytes")
        return refusal.body

    async def _exchanged(self, url: str, payload: object, headers: Mapping[str, str]) -> Refusal:
        """Return the response, whose body is cut off soon after the limit."""
        sent = {"Content-Type": "application/json", "User-Agent": "nous", **headers}
        body = bytearray()
        async with (
            _client(self._endpoint.deadline) as client,
            client.stream("POST", url, content=orjson.dumps(payload), headers=sent) as response,
        ):
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > self._largest:
                    break
        return Refusal(response.status_code, response.headers, bytes(body))

    async def _in_time(self, send: Callable[[], Coroutine[Any, Any, T]]) -> T:
        try:
            async with asyncio.timeout(self._endpoint.deadline):
                return await send()
        except TimeoutError:
            raise timed_out(self._endpoint) from None


def _client(deadline: float) -> "httpx2.AsyncClient":
    """Return a client that follows no redirects: a question never goes to another address."""
    import httpx2  # noqa: PLC0415 (an extra)

    try:
        return httpx2.AsyncClient(
            timeout=deadline,
            verify=trusted_certificates(),
            headers={"Accept-Encoding": "identity"},  # a few compressed bytes may expand beyond the available memory
            follow_redirects=False,
        )
    except (ImportError, ValueError, httpx2.InvalidURL):  # it may quote the password of the proxy
        text = "the proxy cannot be used; set ALL_PROXY, HTTP_PROXY and HTTPS_PROXY to http:// addresses, or unset them"
        raise ModelMisconfigured(text) from None


@cache
def trusted_certificates() -> "SSLContext":
    """Return the trusted certificates, which take longer to read than a connection to open."""
    import httpx2  # noqa: PLC0415 (an extra)

    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        text = f"the trusted certificates cannot be read: {error}; check SSL_CERT_FILE and SSL_CERT_DIR"
        raise ModelMisconfigured(text) from error


PROVIDERS = PlugIns(providers, attribute="PROVIDER", group="nous.providers")


class HttpModel:
    def __init__(self, endpoint: Endpoint, *, clock: Clock) -> None:
        """Open nothing yet. Raises what `Provider.settled` raises."""
        self._provider: Provider = PROVIDERS.load(endpoint.provider)
        self._endpoint = self._provider.settled(endpoint)
        self.id = self._endpoint.id
        self.address = self._endpoint.base_url or ""
        self._transport = Transport(self._endpoint, clock=clock)
        self._is_structured = endpoint.structured != "text"

    def ask(self, question: Question, /) -> Reply:
        """Answer *question* as `Model.ask` does. Raises `Misconfigured` without the extra `llm`."""
        return self._transport.call(partial(self._asked, question))

    async def _asked(self, question: Question) -> Reply:
        """Send the structured form, and the plain one if the provider rejects it.

        Keep to the plain form if it helped. If it did not, the form was not the cause: a wrong model name, say, or a
        question that is too long.
        """
        if self._is_structured:
            try:
                return await self._sent(question, structured=True)
            except StructureRefused:
                if self._endpoint.structured == "schema":
                    raise
        found = await self._sent(question, structured=False)
        self._is_structured = False
        return found

    async def _sent(self, question: Question, *, structured: bool) -> Reply:
        endpoint, provider = self._endpoint, self._provider
        payload, headers = provider.payload(question, endpoint, structured=structured), provider.headers(endpoint)
        body = await self._transport.post(
            provider.path, payload, headers=headers, asked=question.texts, structured=structured
        )
        found = messages.json_object(body)
        if found is None:
            raise unreachable(endpoint, question.texts, "what it sent is not JSON")
        if found.get("error"):
            raise unreachable(endpoint, question.texts, "it sent an error as if it were an answer")
        return provider.read(found, question, endpoint)


def known_providers() -> tuple[str, ...]:
    return tuple(sorted(PROVIDERS.names()))


def split(name: str) -> tuple[str, str]:
    """Split `openai:gpt-5-mini`, say; a model may have colons. Raises `Misconfigured`."""
    provider, _, model = name.strip().partition(":")
    if not model or provider not in known_providers():
        raise Misconfigured(
            f"{name!r} names no model of a provider; write PROVIDER:MODEL, where a provider is one of "
            f"{', '.join(known_providers())}"
        )
    return provider, model
