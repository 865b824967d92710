"""Questions over HTTP. It loads httpx2, so it is imported when the first question is asked (see `loaded`)."""

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import cast

import httpx2
import orjson

from nous.llm.provider import Endpoint

LARGEST_BODY = 4 * 1024 * 1024
"""Bytes of an answer, from which on it is not read to its end."""


class TooLarge(httpx2.RequestError):
    """An answer went beyond what is read."""


def http_client(endpoint: Endpoint, *, largest: int = LARGEST_BODY) -> httpx2.AsyncClient:
    """A client for *endpoint* that reads *largest* bytes, and never sends a question on to where an answer points."""
    return httpx2.AsyncClient(
        timeout=endpoint.deadline,
        limits=httpx2.Limits(
            max_connections=endpoint.concurrency,
            max_keepalive_connections=endpoint.concurrency,
        ),
        headers={"Accept-Encoding": "identity"},  # a few packed bytes may unpack to more than there is memory for
        event_hooks={"response": [partial(_bounded, largest=largest)]},
        follow_redirects=False,
    )


async def post(
    client: httpx2.AsyncClient, endpoint: Endpoint, path: str, payload: object, *, headers: Mapping[str, str]
) -> httpx2.Response:
    """Post *payload* as JSON to *path* of *endpoint*; returns whatever is answered, a refusal too.

    Raises:
        httpx2.RequestError, httpx2.InvalidURL: nothing was, or not all of it.
        TooLarge: it is larger than what is read.
    """
    return await client.post(
        f"{endpoint.base_url}{path}",
        content=orjson.dumps(payload),
        headers={"Content-Type": "application/json", "User-Agent": "nous", **headers},
    )


async def _bounded(response: httpx2.Response, *, largest: int) -> None:
    packing = response.headers.get("content-encoding", "identity")
    if packing != "identity":
        raise httpx2.DecodingError(f"it sent {packing}, which was not asked for", request=response.request)
    response.stream = _Bounded(response, largest)


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer. One that is too large is an error, but that of a refusal is only cut off."""

    def __init__(self, response: httpx2.Response, largest: int) -> None:
        self._stream = cast("httpx2.AsyncByteStream", response.stream)
        self._request = response.request
        self._is_refusal = not response.is_success
        self._largest = largest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._largest and self._is_refusal:
                return
            if size > self._largest:
                raise TooLarge(f"more than {self._largest} bytes", request=self._request)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
