"""`nous worker` and `nous up`: run chosen or all workers in this process until signalled."""

import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from secrets import token_hex
from types import FrameType

import click
import structlog

from nous.app.container import Container
from nous.app.services import watcher
from nous.app.worker_process import worker_process
from nous.cli.framework import INTERRUPTED, App
from nous.cli.install import installer_of
from nous.domain.errors import BadInput, Misconfigured, Unavailable
from nous.hosts.loops import notes_refresher, session_sweepers, spool_drain
from nous.jobs.rq.quarantine_worker import run_quarantine
from nous.redis_server.client import address, embedded_directory, masked
from nous.redis_server.data_dir import held
from nous.runtime.worker_process import Loop, QuarantineStarter, WorkerProcess
from nous.services.folder_watch import SweepLog

_log = structlog.get_logger(__name__)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--all", "everything", is_flag=True, help="Run every worker.")
@click.option("--quarantine", is_flag=True, help="Empty the quarantine queue, each job in its own process, and exit.")
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
        for name in map(container.job_names.own, names):
            run_quarantine(
                name,
                client=container.rq_client,
                name=f"{name}-quarantine-{socket.gethostname()}-{os.getpid()}-{token_hex(2)}",
                runner=container.attempts,
                blame=container.attempts.blame,
            )
    else:
        hint = "SIGTERM or Ctrl-C stops it"
        _log.info("worker.started", server=masked(address(app.settings)), workers=list(names), hint=hint)
        _run(container, names, app)
        _log.info("worker.stopped")


@click.command()
@click.pass_obj
def up(app: App) -> None:
    """Run everything on this machine: every worker, and the embedded server if configured.

    It also publishes the sessions that hooks have reported. For those that no hook has, it sweeps the configured
    folders (watch.folders), and the sessions of hosts with hooks (`nous install`). The server keeps running when this
    ends, so that producers can continue. `nous down` stops it.
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
        folders = container.settings.watch.folders
        sweeping = [watcher(container, folders, told=SweepLog())] if folders else []
        hooks = [spool_drain(container), notes_refresher(container), *session_sweepers(container, installer_of(app))]
        _run(container, sorted(container.workers), app, also=[*sweeping, *hooks])
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
