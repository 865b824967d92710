"""Where a model answers, and what a provider has to be. A provider is one file in nous/llm/providers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from nous.domain.errors import Misconfigured
from nous.llm.base import ModelRefused, Question, Reply

Structured = Literal["auto", "schema", "text"]
Clock = Callable[[], datetime]
"""The time now, in UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model of a provider, and how it is asked.

    `deadline` is in seconds, for a whole call; `concurrency` is how many calls this process has in flight at most.
    `structured` says how an answer is held to its schema: by the provider's own means ("schema"), by words ("text"), or
    by words once the provider has turned its own means down ("auto"). `table` is where in the settings it stands, and
    `is_usual` means that nobody has set an address, so that it is the provider's own.
    """

    provider: str
    model: str
    deadline: float
    concurrency: int
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    structured: Structured = "auto"
    table: str = "llm"
    is_usual: bool = False

    @property
    def id(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def host(self) -> str:
        """The host and port it is at, without whatever else its address may hold."""
        address = urlsplit(self.base_url or "")
        return f"{address.hostname or ''}{f':{address.port}' if address.port else ''}"

    @property
    def key_setting(self) -> str:
        return self._variable("api_key")

    @property
    def url_setting(self) -> str:
        return self._variable("base_url")

    def _variable(self, name: str) -> str:
        return f"NOUS_{self.table}__{name}".upper()

    def __str__(self) -> str:
        return f"{self.id} at {self.host}"


class Provider(Protocol):
    """What a module in nous/llm/providers calls `PROVIDER`: how a server is spoken to, in JSON over HTTP. All pure."""

    @property
    def path(self) -> str:
        """Where questions are posted, behind the endpoint's address."""
        ...

    def settled(self, endpoint: Endpoint) -> Endpoint:
        """*endpoint* with whatever it leaves open filled in.

        Raises:
            Misconfigured: it cannot be used so.
        """
        ...

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        """What says who asks."""
        ...

    def payload(self, question: Question, endpoint: Endpoint, *, structured: bool) -> Mapping[str, Any]:
        """*question* as the server knows it, with its own means to hold an answer to a schema if *structured*."""
        ...

    def read(self, body: bytes, question: Question, endpoint: Endpoint) -> Reply:
        """The reply that *body* is.

        Raises:
            ModelUnreachable: it is none: something else than the server has answered.
        """
        ...


class StructureRefused(ModelRefused):
    """A provider turned a question down that came with a schema. It may answer without."""


def placed(endpoint: Endpoint, base_url: str) -> Endpoint:
    """*endpoint* at *base_url*, if it names no other.

    Raises:
        Misconfigured: what it names is no address.
    """
    address = (endpoint.base_url or base_url).rstrip("/")
    if not _is_address(address):
        raise Misconfigured(
            f"the address of {endpoint.id} is not one of HTTP, or holds more than one; "
            f"set {endpoint.url_setting} to http(s)://HOST[:PORT]/PATH, "
            f"and whatever is secret as {endpoint.key_setting}"
        )
    return replace(endpoint, base_url=address, is_usual=endpoint.base_url is None)


def keyed(endpoint: Endpoint, *, is_needed: bool) -> Endpoint:
    """*endpoint* with a key, which may only be missing if none *is_needed*.

    Raises:
        Misconfigured: it is missing, or could not be sent.
    """
    key = (endpoint.api_key or "").strip()
    if is_needed and not key:
        own = f" or {endpoint.provider.upper()}_API_KEY" if endpoint.is_usual and endpoint.table == "llm" else ""
        raise Misconfigured(f"{endpoint.id} needs a key; set {endpoint.key_setting}{own}")
    if not (key.isascii() and key.isprintable()):
        raise Misconfigured(
            f"the key of {endpoint.id} holds characters that no key has; set {endpoint.key_setting} again"
        )
    return replace(endpoint, api_key=key or None)


def _is_address(text: str) -> bool:
    """Whether *text* is the address of an HTTP server, and no more: addresses are logged, with a password if any."""
    try:
        address = urlsplit(text)
        is_known = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        return False
    return is_known and "@" not in address.netloc and not address.query and not address.fragment
