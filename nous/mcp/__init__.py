"""`nous mcp`: serve memory to agents over the Model Context Protocol."""

import signal

import click

from nous.cli.framework import App, scope_option
from nous.domain.errors import Misconfigured
from nous.domain.scope import Scope


@click.command()
@scope_option
@click.option("--writable", is_flag=True, help="Also offer tools that change memory: remember and forget.")
@click.pass_obj
def mcp(app: App, *, scope: Scope, writable: bool) -> None:
    """Serve search, notes and provenance to an agent over the Model Context Protocol.

    An agent starts it and talks to it over standard input and output. Its tools only read, unless you say
    --writable. --scope is the scope of calls that name none. Logs go to standard error.
    """
    try:
        from nous.mcp.server import build  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise Misconfigured("the extra `mcp` is not installed: run pip install 'nous-bus[mcp]'") from error
    app.settings  # noqa: B018 - configures logging, before the library does
    server = build(lambda: app.container, scope, writable=writable)
    # It reads on a thread that no interrupt wakes: without this, Ctrl-C would wait for the next message.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    server.run("stdio")
