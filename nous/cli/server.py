"""`nous down` and `nous config`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import orjson

from nous import log
from nous.cli.frame import App
from nous.cli.show import counted
from nous.server import embedded
from nous.server.connect import address, connect_rq, embedded_directory, masked
from nous.settings import Loaded, Settings, load


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def down(app: App, *, as_json: bool) -> None:
    """Stop the embedded server of the data directory. Its data stays, and `nous up` starts it again.

    Whatever works with it waits until then. A server that is not ours is never stopped.
    """
    directory = embedded_directory(app.settings)
    url = masked(address(app.settings))
    working = _working(app.settings, directory) if directory else 0
    stopped = embedded.stop(directory) if directory else False
    if as_json:
        _print_json({"stopped": stopped, "embedded": directory is not None, "url": url, "workers": working})
    elif directory is None:
        click.echo(f"{url} is not ours to stop")
    else:
        click.echo(f"stopped the server of {directory}" if stopped else f"no server was running in {directory}")
        if stopped and working:
            waiting = f"still running, and waiting for a server: {counted(working, 'worker')}"
            click.echo(f"{waiting}; Ctrl-C where `nous up` or `nous worker` was started ends that")


def _working(settings: Settings, directory: Path) -> int:
    """How many workers the server of *directory* knows. One that does not run is not started to be asked."""
    if embedded.status(directory).state != "running":
        return 0
    from nous.jobs.rq.census import workers_seen  # noqa: PLC0415 - where nothing runs, RQ is not needed

    return len(workers_seen(connect_rq(settings)))


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def config(app: App, *, as_json: bool) -> None:
    """Show the effective settings, where each comes from, and the server they lead to. Starts nothing."""
    loaded = load(app.config_path)
    log.configure(loaded.settings.log_level, loaded.settings.log_format)
    if as_json:
        _print_json(_as_object(loaded))
    else:
        click.echo("\n".join(_as_toml(loaded)))


def _as_object(loaded: Loaded) -> dict[str, Any]:
    return {
        "file": str(loaded.file) if loaded.file else None,
        "settings": {key: {"value": value, "origin": origin} for key, value, origin in _shown(loaded)},
        "server": _server(loaded.settings),
    }


def _as_toml(loaded: Loaded) -> Iterator[str]:
    server = _server(loaded.settings)
    yield f"# file: {loaded.file or 'none'}"
    yield f"# server: {server['url']}" + (f" (embedded, {server['state']})" if server["embedded"] else "")
    for key, value, origin in _shown(loaded):
        line = f"# {key} is not set" if value is None else f"{key} = {orjson.dumps(value).decode()}"
        yield f"{line:<60}  # {origin}"


def _shown(loaded: Loaded) -> Iterator[tuple[str, Any, str]]:
    for key, value, origin in loaded.rows():
        yield key, masked(value) if value and key in {"redis_url", "index.url"} else value, origin


def _server(settings: Settings) -> dict[str, Any]:
    directory = embedded_directory(settings)
    return {
        "url": masked(address(settings)),
        "embedded": directory is not None,
        "state": embedded.status(directory).state if directory else None,
    }


def _print_json(value: dict[str, Any]) -> None:
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2))
