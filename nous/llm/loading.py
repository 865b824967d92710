"""The HTTP client comes with an extra, and is loaded at the first question."""

from importlib import import_module

from nous.errors import Misconfigured
from nous.llm.endpoint import Endpoint


def loaded(endpoint: Endpoint) -> None:
    """Load the HTTP client: the first time it takes a moment, for which no event loop can wait.

    Raises:
        Misconfigured: it is not installed.
    """
    try:
        import_module("nous.llm.wire")
    except ImportError as error:
        raise Misconfigured(f"{endpoint.id} needs the extra nous[llm]: install it beside nous") from error
