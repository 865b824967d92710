"""Define a model's `Endpoint`, the `Provider` protocol, and checks of address and API key."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from nous.domain.errors import Misconfigured
from nous.llm.base import ModelRefused, Question, Reply

Structured = Literal["auto", "schema", "text"]
_ADDRESS = re.compile(r"https?://([\w.-]+|\[[\da-fA-F:.]+\])(:[1-9]\d*)?(/[^\s@?#]*)?")
"""An HTTP address without user, query and fragment, since addresses are logged."""

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model of a provider, and how to call it.

    `deadline` is in seconds, for a whole call; `concurrency` is the most calls that this process has in flight. `auto`
    structured output becomes an instruction once the provider has rejected a schema. `table` is its settings table.
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
    def key_setting(self) -> str:
        return f"NOUS_{self.table}__api_key".upper()

    @property
    def url_setting(self) -> str:
        return f"NOUS_{self.table}__base_url".upper()

    def __str__(self) -> str:
        address = urlsplit(self.base_url or "")
        port = f":{address.port}" if address.port else ""
        return f"{self.id} at {address.hostname or ''}{port}"


class Provider(Protocol):
    """Pure protocol adapter for one provider's JSON API; a provider module's `PROVIDER`."""

    @property
    def path(self) -> str: ...

    def settled(self, endpoint: Endpoint) -> Endpoint:
        """Return *endpoint* with defaults filled in; raise Misconfigured if it cannot be used."""
        ...

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]: ...

    def payload(self, question: Question, endpoint: Endpoint, *, structured: bool) -> Mapping[str, Any]:
        """Return the request body for *question*, with native structured output if *structured*."""
        ...

    def read(self, answer: Mapping[str, Any], question: Question, endpoint: Endpoint) -> Reply:
        """Return the reply that the JSON object *answer* holds; an empty one if it holds no text."""
        ...


class StructureRefused(ModelRefused):
    """A provider rejected a question that came with a schema. It may answer without."""


def placed(endpoint: Endpoint, base_url: str) -> Endpoint:
    """Return *endpoint* with an address, by default *base_url*. Raises `Misconfigured`."""
    address = (endpoint.base_url or base_url).rstrip("/")
    if not _is_plain(address):
        raise Misconfigured(
            f"the address of {endpoint.id} is not a plain HTTP address; "
            f"set {endpoint.url_setting} to http(s)://HOST[:PORT]/PATH, "
            f"and whatever is secret as {endpoint.key_setting}"
        )
    return replace(endpoint, base_url=address)


def _is_plain(address: str) -> bool:
    try:
        return bool(_ADDRESS.fullmatch(address)) and urlsplit(address).port != 0
    except ValueError:  # the port is too large, or what stands in brackets is no IPv6 address
        return False


def keyed(endpoint: Endpoint, *, is_needed: bool) -> Endpoint:
    """Return *endpoint* with its key. Raises `Misconfigured` if that is unusable, or missing."""
    key = (endpoint.api_key or "").strip()
    if is_needed and not key:
        own = f" or {endpoint.provider.upper()}_API_KEY" if endpoint.table == "llm" else ""
        raise Misconfigured(f"{endpoint.id} needs a key; set {endpoint.key_setting}{own}")
    if not (key.isascii() and key.isprintable()):
        raise Misconfigured(
            f"the key of {endpoint.id} holds characters that no key has; set {endpoint.key_setting} again"
        )
    return replace(endpoint, api_key=key or None)
