"""Where a model answers, and what a provider has to be. A provider is one file in nous/llm/providers."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, Protocol
from urllib.parse import urlsplit

from nous.errors import Misconfigured
from nous.llm.base import ModelRefused, Question, Reply

Structured = Literal["auto", "schema", "text"]
Clock = Callable[[], datetime]
"""The time now, in UTC."""

NO_KEY = "none"
"""Sent to servers that ask for no key: the SDKs insist on one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model of a provider, and how it is asked.

    `deadline` is in seconds, for a whole call; `concurrency` is how many calls this process has in flight at most.
    `structured` says how an answer is held to its schema: by the provider's own means ("schema"), by words ("text"), or
    by words once the provider has turned its own means down ("auto"). `table` is where in the settings it stands.
    """

    provider: str
    model: str
    deadline: float
    concurrency: int
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    structured: Structured = "auto"
    table: str = "llm"

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


class Client(Protocol):
    """Calls to one endpoint. It is opened and used in one event loop."""

    async def ask(self, question: Question, *, structured: bool) -> Reply:
        """Ask once, with the provider's own means to hold an answer to its schema if *structured*.

        Raises what `Model.ask` raises, and

        Raises:
            StructureRefused: the question was turned down, perhaps for being *structured*.
        """
        ...

    async def close(self) -> None: ...


class Provider(Protocol):
    """What a module in nous/llm/providers calls `PROVIDER`."""

    def settled(self, endpoint: Endpoint) -> Endpoint:
        """*endpoint* with whatever it leaves open filled in.

        Raises:
            Misconfigured: it cannot be used so.
        """
        ...

    def load(self) -> None:
        """Import the provider's package: at the first time it takes seconds, for which no event loop can wait.

        Raises:
            Misconfigured: it is not installed.
        """
        ...

    def open(self, endpoint: Endpoint, clock: Clock) -> Client:
        """Calls to *endpoint*, which is settled, of a provider that is loaded."""
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
    return replace(endpoint, base_url=address)


def keyed(endpoint: Endpoint, *, is_needed: bool) -> Endpoint:
    """*endpoint* with a key, which may only be missing if none *is_needed*.

    Raises:
        Misconfigured: it is missing, or could not be sent.
    """
    key = (endpoint.api_key or "").strip()
    if is_needed and not key:
        raise Misconfigured(f"{endpoint.id} needs a key; set {endpoint.key_setting}")
    if not (key.isascii() and key.isprintable()):
        raise Misconfigured(
            f"the key of {endpoint.id} holds characters that no key has; set {endpoint.key_setting} again"
        )
    return replace(endpoint, api_key=key or NO_KEY)


def _is_address(text: str) -> bool:
    """Whether *text* is the address of an HTTP server, and no more: addresses are logged, with a password if any."""
    try:
        address = urlsplit(text)
        is_known = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        return False
    return is_known and "@" not in address.netloc and not address.query and not address.fragment
