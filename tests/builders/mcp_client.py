"""The official MCP client, and what tools answer it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp.client.client import Client
from mcp_types import CallToolResult, TextContent

T = TypeVar("T")
Call = tuple[str, dict[str, Any]]


def with_client(server: Any, work: Callable[[Client], Awaitable[T]]) -> T:
    """Run *work* with a client of *server*: a server in memory, a transport, or a URL."""

    async def run() -> T:
        async with Client(server, read_timeout_seconds=60) as client:
            return await work(client)

    return asyncio.run(run())


def called(server: Any, *calls: Call) -> list[CallToolResult]:
    async def work(client: Client) -> list[CallToolResult]:
        return [await client.call_tool(name, arguments) for name, arguments in calls]

    return with_client(server, work)


def one(server: Any, name: str, **arguments: Any) -> CallToolResult:
    return called(server, (name, arguments))[0]


def text_of(answer: CallToolResult) -> str:
    [content] = answer.content
    assert isinstance(content, TextContent)
    return content.text


def notes_of(answer: CallToolResult) -> list[dict[str, Any]]:
    assert answer.structured_content
    return answer.structured_content["notes"]


def refusal(answer: CallToolResult) -> str:
    assert answer.is_error, answer
    assert answer.structured_content is None
    assert "Traceback" not in text_of(answer)
    return text_of(answer)
