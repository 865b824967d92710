"""HTTP client for LLMs: send a question in the provider's protocol and return its reply."""

from functools import partial

from nous.domain.errors import Misconfigured
from nous.domain.plug_ins import PlugIns
from nous.llm import messages, providers
from nous.llm.base import Question, Reply
from nous.llm.error_mapping import unreachable
from nous.llm.provider import Clock, Endpoint, Provider, StructureRefused
from nous.llm.transport import Transport

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
