"""Commands for processes and the server: worker, up, down, config and rq-dashboard."""

import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from types import FrameType
from typing import TYPE_CHECKING, Any

import click
import orjson
import structlog

from nous import log
from nous.app.container import Container
from nous.app.services import watchers
from nous.app.worker_process import worker_process
from nous.cli.framework import INTERRUPTED, App, json_option
from nous.cli.output import counted, render
from nous.domain.errors import BadInput, Misconfigured, Unavailable
from nous.jobs.rq.quarantine_worker import run_quarantine
from nous.redis_server import embedded
from nous.redis_server.client import address, connect_rq, embedded_directory, masked
from nous.redis_server.data_dir import held
from nous.runtime.dispatch_loop import QuarantineStarter
from nous.runtime.worker_process import Loop, WorkerProcess
from nous.settings import Settings, load
from nous.settings.model import DashboardSettings

if TYPE_CHECKING:
    from nous.jobs.rq.dashboard import Login


_log = structlog.get_logger(__name__)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--all", "everything", is_flag=True, help="Run every worker.")
@click.option(
    "--quarantine", is_flag=True, help="Run the quarantine queue instead, each job in its own process, and exit."
)
@click.pass_obj
def worker(app: App, names: Sequence[str], *, everything: bool, quarantine: bool) -> None:
    """Run workers in this process: dispatch events, execute them, reclaim expired leases.

    Start as many processes as you like, on as many hosts. On the first Ctrl-C or SIGTERM, work in flight finishes. On
    the second, the process exits at once. Nothing is lost either way.
    """
    container = app.container
    if everything == bool(names):
        raise BadInput(f"name the workers, or say --all: there are {', '.join(sorted(container.workers))}")
    names = names or sorted(container.workers)
    for name in names:
        container.subscription(name)
    container.check_model()
    if quarantine:
        for name in names:
            _empty_quarantine(container, name)
    else:
        hint = "SIGTERM or Ctrl-C stops it"
        _log.info("worker.started", server=masked(address(app.settings)), workers=list(names), hint=hint)
        _run(container, names, app)
        _log.info("worker.stopped")


@click.command()
@click.pass_obj
def up(app: App) -> None:
    """Run everything on this machine: every worker, and the embedded server if configured.

    It also sweeps the configured folders (watch.folders) for sessions that no hook has reported. The server keeps
    running when this ends, so that producers can continue. `nous down` stops it.
    """
    directory = app.settings.data_dir
    container = app.container
    container.check_model()
    directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(held(directory / "up.lock", within=0))
        except Unavailable:
            raise Misconfigured(
                f"nous is already up in {directory}: `nous status` shows it, and `nous worker NAME` adds to it"
            ) from None
        click.echo(f"up at {masked(address(app.settings))} with {', '.join(sorted(container.workers))}; Ctrl-C stops")
        _run(container, sorted(container.workers), app, also=[*watchers(container)])
    if embedded_directory(app.settings):
        click.echo("stopped; the server keeps running until `nous down`")


def _run(container: Container, names: Sequence[str], app: App, *, also: Sequence[Loop] = ()) -> None:
    config = ["--config", str(app.config_path)] if app.config_path else []
    quarantines = QuarantineStarter([sys.executable, "-m", "nous", *config, "worker", "--quarantine"])
    process = worker_process(container, names, open_quarantine=quarantines.open, also=also)
    _stop_on_signals(process, quarantines)
    process.start()
    was_asked = process.wait()
    quarantines.stop()
    if not was_asked:
        raise Unavailable("a part of it has stopped unexpectedly: the log says which and why; start it again")


def _stop_on_signals(process: WorkerProcess, quarantines: QuarantineStarter) -> None:
    """Drain the workers on the first signal; end the process on the second."""
    received: list[int] = []

    def on_signal(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1:
            quarantines.ask_to_end()
            os._exit(INTERRUPTED)
        process.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)


def _empty_quarantine(container: Container, name: str) -> None:
    known_as = container.job_names.own(name)
    run_quarantine(
        known_as,
        client=container.rq_client,
        name=f"{known_as}-quarantine-{socket.gethostname()}-{os.getpid()}-{token_hex(2)}",
        runner=container.attempts,
        blame=container.attempts.blame,
    )


@click.command()
@json_option
@click.pass_obj
def down(app: App, *, as_json: bool) -> None:
    """Stop the embedded server of the data directory. Its data stays.

    Workers and producers wait until `nous up` starts it again. A server that nous does not embed is never stopped.
    """
    directory = embedded_directory(app.settings)
    url = masked(address(app.settings))
    working = _working(app.settings, directory) if directory else 0
    stopped = embedded.stop(directory) if directory else False
    lines = [f"stopped the server of {directory}" if stopped else f"no server was running in {directory}"]
    if directory is None:
        lines = [f"{url} is no embedded server: nous does not stop it"]
    elif stopped and working:
        waiting = f"still running, and waiting for a server: {counted(working, 'worker')}"
        lines.append(f"{waiting}; Ctrl-C where `nous up` or `nous worker` was started ends that")
    result = {"stopped": stopped, "embedded": directory is not None, "url": url, "workers": working}
    render(result, lines, as_json=as_json)


def _working(settings: Settings, directory: Path) -> int:
    """Return how many workers the server of *directory* knows; a stopped server is not started."""
    if embedded.status(directory).state != "running":
        return 0
    from nous.jobs.rq.worker_stats import workers_seen  # noqa: PLC0415 - where nothing runs, RQ is not needed

    return len(workers_seen(connect_rq(settings)))


@click.command()
@json_option
@click.pass_obj
def config(app: App, *, as_json: bool) -> None:
    """Show the effective settings, their origins and the server in use. Starts nothing."""
    loaded = load(app.config_path)
    log.configure(loaded.settings.log_level, loaded.settings.log_format)
    server, rows = _server(loaded.settings), list(loaded.rows())
    shown = {key: masked(value) if value and key in {"redis_url", "index.url"} else value for key, value, _ in rows}
    origins = {key: origin for key, _, origin in rows}
    found = {
        "file": str(loaded.file) if loaded.file else None,
        "settings": {key: {"value": value, "origin": origins[key]} for key, value in shown.items()},
        "server": server,
    }
    state = f" (embedded, {server['state']})" if server["embedded"] else ""
    heads = (f"# file: {loaded.file or 'none'}", f"# server: {server['url']}{state}")
    lines = (f"{_as_toml(key, value):<60}  # {origins[key]}" for key, value in shown.items())
    render(found, (*heads, *lines), as_json=as_json)


def _as_toml(key: str, value: Any) -> str:
    return f"# {key} is not set" if value is None else f"{key} = {orjson.dumps(value).decode()}"


def _server(settings: Settings) -> dict[str, Any]:
    directory = embedded_directory(settings)
    return {
        "url": masked(address(settings)),
        "embedded": directory is not None,
        "state": embedded.status(directory).state if directory else None,
    }


@click.command("rq-dashboard")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    default=9181,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port to listen on. 0 takes any free one.",
)
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
    from nous.jobs.rq.job import AllowListedJob  # noqa: PLC0415 - RQ is needed here only

    login = _login(app.settings.dashboard)
    if login is None and not dashboard.is_loopback(host):
        raise Misconfigured(
            f"anyone who reaches {host} could see and delete jobs: set dashboard.username and dashboard.password "
            "(NOUS_DASHBOARD__USERNAME, NOUS_DASHBOARD__PASSWORD), or listen on 127.0.0.1"
        )
    shown_as = masked(address(app.settings))
    names = JobNames(app.settings.prefix)
    client = connect_rq(app.settings)
    pages = dashboard.build(client, shown_as=shown_as, job_class=AllowListedJob, names=names, login=login)
    with dashboard.listen(pages, host=host, port=port) as server:
        click.echo(f"rq-dashboard of {shown_as} on http://{f'[{host}]' if ':' in host else host}:{server.port}")
        server.serve_forever()


def _login(settings: DashboardSettings) -> "Login | None":
    from nous.jobs.rq.dashboard import Login  # noqa: PLC0415 - an extra

    if settings.username is None and settings.password is None:
        return None
    if not settings.username or settings.password is None or not settings.password.get_secret_value():
        raise Misconfigured("dashboard.username and dashboard.password are needed both, or neither")
    return Login(settings.username, settings.password.get_secret_value())
