"""Stop the embedded Redis server, show effective settings, or serve rq-dashboard."""

from pathlib import Path
from typing import Any

import click
import orjson

import nous
from nous import log
from nous.cli.framework import App, json_option
from nous.cli.output import note, render, say
from nous.domain.errors import Misconfigured
from nous.redis_server import embedded
from nous.redis_server.client import address, connect_rq, embedded_directory, masked
from nous.settings import load
from nous.settings.model import DashboardSettings


@click.command()
@json_option
@click.pass_obj
def down(app: App, *, as_json: bool) -> None:
    """Stop the embedded server of the data directory. Its data stays.

    Workers wait until `nous up`, or any command that reads or publishes, starts it again. A server that nous does not
    embed is never stopped.
    """
    directory = embedded_directory(app.settings)
    url, stopped = masked(address(app.settings)), False
    lines = [f"{url} is no embedded server: nous does not stop it"]
    if directory:
        stopped = embedded.stop(directory)
        done = f"stopped the server of {directory}; workers that still run wait until it is started again"
        lines = [done if stopped else f"no server was running in {directory}"]
    result = {"stopped": stopped, "embedded": directory is not None, "url": url}
    render(result, lines, as_json=as_json)


def shared(name: str) -> Path:
    """Return the path of a file that comes with the program, in the wheel or the repository."""
    package = Path(nous.__file__).parent
    installed = package / "share" / name
    return installed if installed.exists() else package.parent / {"nous.toml": "config/nous.toml"}.get(name, name)


@click.command()
@click.option("--example", is_flag=True, help="Print a settings file with every default and its reason.")
@json_option
@click.pass_obj
def config(app: App, *, example: bool, as_json: bool) -> None:
    """Show the effective settings, their origins and the server in use. Starts nothing."""
    if example:
        say(shared("nous.toml").read_text().rstrip())
        note(
            f"nous reads it as ./nous.toml or ~/.config/nous/nous.toml; files for deployment are in {shared('deploy')}"
        )
        return
    loaded = load(app.config_path)
    log.configure(loaded.settings.log_level, loaded.settings.log_format)
    directory, url = embedded_directory(loaded.settings), masked(address(loaded.settings))
    state = embedded.status(directory).state if directory else None
    shown = {
        key: {"value": masked(value) if value and key == "redis_url" else value, "origin": origin}
        for key, value, origin in loaded.rows()
    }
    server = {"url": url, "embedded": directory is not None, "state": state}
    found = {"file": str(loaded.file) if loaded.file else None, "settings": shown, "server": server}
    heads = (f"# file: {loaded.file or 'none'}", f"# server: {url}{f' (embedded, {state})' if directory else ''}")
    lines = (f"{_as_toml(key, each['value']):<60}  # {each['origin']}" for key, each in shown.items())
    render(found, (*heads, *lines), as_json=as_json)


def _as_toml(key: str, value: Any) -> str:
    return f"# {key} is not set" if value is None else f"{key} = {orjson.dumps(value).decode()}"


@click.command("rq-dashboard")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=9181, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free port.")
@click.pass_obj
def rq_dashboard(app: App, *, host: str, port: int) -> None:
    """Serve rq-dashboard for the configured server, also an embedded one, until interrupted.

    It shows RQ's queues, workers and jobs of this installation. What you delete there is not lost: events wait in their
    streams until they are committed, and are queued again. On an address that others can reach, it requires the login
    of the settings dashboard.username and dashboard.password. It refuses to start without them.
    """
    try:
        from nous.jobs.rq import dashboard  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise Misconfigured(f"{error.name} is not installed: install nous with the extra `dashboard`") from error
    from nous.jobs.base import JobNames  # noqa: PLC0415 - RQ is needed here only

    login = _login(app.settings.dashboard)
    if login is None and not dashboard.is_loopback(host):
        raise Misconfigured(
            f"anyone who reaches {host} could see and delete jobs: set dashboard.username and dashboard.password "
            "(NOUS_DASHBOARD__USERNAME, NOUS_DASHBOARD__PASSWORD), or listen on 127.0.0.1"
        )
    shown_as = masked(address(app.settings))
    pages = dashboard.build(
        connect_rq(app.settings), shown_as=shown_as, names=JobNames(app.settings.prefix), login=login
    )
    with dashboard.listen(pages, host=host, port=port) as server:
        click.echo(f"rq-dashboard of {shown_as} on http://{f'[{host}]' if ':' in host else host}:{server.port}")
        server.serve_forever()


def _login(settings: DashboardSettings) -> tuple[str, str] | None:
    password = settings.password.get_secret_value() if settings.password else None
    if settings.username is None and settings.password is None:
        return None
    if not settings.username or not password:
        raise Misconfigured("dashboard.username and dashboard.password are needed both, or neither")
    return settings.username, password
