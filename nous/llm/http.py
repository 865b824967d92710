"""HTTP transport: JSON requests with bounded responses.

It imports httpx2, so import it only when the first question is asked.
"""

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import cast

import httpx2
import orjson

from nous.llm.provider import Endpoint


class TooLarge(httpx2.RequestError):
    """The response exceeds the size limit."""


def http_client(endpoint: Endpoint, *, largest: int) -> httpx2.AsyncClient:
    """Return a client for *endpoint* that reads at most *largest* bytes per response.

    It follows no redirects, so a question never goes to another address.
    """
    return httpx2.AsyncClient(
        timeout=endpoint.deadline,
        limits=httpx2.Limits(
            max_connections=endpoint.concurrency,
            max_keepalive_connections=endpoint.concurrency,
        ),
        headers={"Accept-Encoding": "identity"},  # a few compressed bytes may expand beyond the available memory
        event_hooks={"response": [partial(_bounded, largest=largest)]},
        follow_redirects=False,
    )


async def post(client: httpx2.AsyncClient, url: str, payload: object, *, headers: Mapping[str, str]) -> httpx2.Response:
    """Post *payload* as JSON to *url*; return any response, also of an error.

    Raises:
        httpx2.RequestError, httpx2.InvalidURL: there was no response, or not all of it.
        TooLarge: the response is larger than the limit.
    """
    return await client.post(
        url,
        content=orjson.dumps(payload),
        headers={"Content-Type": "application/json", "User-Agent": "nous", **headers},
    )


async def _bounded(response: httpx2.Response, *, largest: int) -> None:
    packing = response.headers.get("content-encoding", "identity")
    if packing != "identity":
        raise httpx2.DecodingError(f"it sent {packing}, which was not asked for", request=response.request)
    response.stream = _Bounded(response, largest)


class _Bounded(httpx2.AsyncByteStream):
    """Response body with a size limit.

    Exceeding it is an error, but the body of an error response is only cut off.
    """

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
