"""`nous mcp`: serve memory to agents over the Model Context Protocol."""

import signal
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from nous.cli.framework import App, scope_option
from nous.cli.output import note
from nous.domain.errors import BadInput, Misconfigured
from nous.domain.scope import Scope

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

_LOOPBACK = ("127.0.0.1", "localhost", "::1")  # the library refuses requests that name another host (DNS rebinding)
_GRACE = 2  # seconds for answers under way when the server is stopped


def _address(_: click.Context, __: click.Parameter, written: str | None) -> tuple[str, int] | None:
    if written is None:
        return None
    try:
        parts = urlsplit(f"//{written}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if port is None:
        raise BadInput(f"{written!r} is no address: write HOST:PORT, such as 127.0.0.1:8765")
    if host not in _LOOPBACK:
        raise BadInput(
            f"{host or 'every address'} can be reached by others, and there is no login: write 127.0.0.1:{port}"
        )
    return host, port


@click.command()
@scope_option
@click.option("--writable", is_flag=True, help="Also offer tools that change memory: remember and forget.")
@click.option("--http", "address", metavar="HOST:PORT", callback=_address, help="Serve HTTP at /mcp on loopback.")
@click.pass_obj
def mcp(app: App, *, scope: Scope, writable: bool, address: tuple[str, int] | None) -> None:
    """Serve search, notes and provenance to an agent over the Model Context Protocol.

    By default an agent starts it and talks to it over standard input and output. Its tools only read, unless you say
    --writable. --scope is the scope of calls that name none. Logs go to standard error.
    """
    try:
        from nous.mcp.server import build  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise Misconfigured("the extra `mcp` is not installed: run pip install 'nous-bus[mcp]'") from error
    app.settings  # noqa: B018 - configures logging, before the library does
    server = build(lambda: app.container, scope, writable=writable)
    if address is None:
        # It reads on a thread that no interrupt wakes: without this, Ctrl-C would wait for the next message.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        server.run("stdio")
    else:
        _serve(server, *address)


def _serve(server: "MCPServer[Any]", host: str, port: int) -> None:
    import uvicorn  # noqa: PLC0415 - an extra

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise Misconfigured(f"cannot listen on {host}:{port}: {error.strerror}") from error
    with listening:
        note(f"serving on http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/mcp")
        pages = server.streamable_http_app(host=host)
        config = uvicorn.Config(pages, log_config=None, log_level="warning", timeout_graceful_shutdown=_GRACE)
        uvicorn.Server(config).run(sockets=[listening])
