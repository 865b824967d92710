"""`nous worker` and `nous up`."""

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

from nous.cli.frame import INTERRUPTED, App
from nous.errors import BadInput, Misconfigured, Unavailable
from nous.jobs.rq.quarantine import run_quarantine
from nous.runtime.fleet import Fleet, Post
from nous.runtime.quarantine import Quarantines
from nous.server.connect import address, embedded_directory, masked
from nous.server.lock import held
from nous.wiring import World, build, fleet, watchers

_log = structlog.get_logger(__name__)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--all", "everything", is_flag=True, help="Every worker there is.")
@click.option("--quarantine", is_flag=True, help="Run the quarantine queue instead, one job a process, and end.")
@click.pass_obj
def worker(app: App, names: Sequence[str], *, everything: bool, quarantine: bool) -> None:
    """Run workers in this process: dispatch their events, execute them, and sweep after the dead.

    Start as many processes as you like, on as many hosts. The first Ctrl-C or SIGTERM lets what is in flight finish,
    the second one ends at once; nothing is lost either way.
    """
    world = build(app.settings)
    if everything == bool(names):
        raise BadInput(f"name the workers, or say --all: there are {', '.join(sorted(world.workers))}")
    names = names or sorted(world.workers)
    for name in names:
        world.subscription(name)
    world.check_model()
    if quarantine:
        for name in names:
            _empty_quarantine(world, name)
    else:
        _log.info("at work, until SIGTERM or Ctrl-C", server=masked(address(app.settings)), workers=list(names))
        _run(world, names, app)
        _log.info("stopped")


@click.command()
@click.pass_obj
def up(app: App) -> None:
    """Run everything on this machine: the embedded server, if that is configured, and every worker.

    It sweeps the folders that are set (watch.folders) for sessions of which nobody has told.
    When it ends the server stays, so that producers can go on; `nous down` stops it.
    """
    directory = app.settings.data_dir
    world = build(app.settings)
    world.check_model()
    directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(held(directory / "up.lock", within=0))
        except Unavailable:
            raise Misconfigured(
                f"nous is already up in {directory}: `nous status` shows it, and `nous worker NAME` adds to it"
            ) from None
        click.echo(f"up at {masked(address(app.settings))} with {', '.join(sorted(world.workers))}; Ctrl-C stops")
        _run(world, sorted(world.workers), app, also=[*watchers(world)])
    if embedded_directory(app.settings):
        click.echo("stopped; the server stays until `nous down`")


def _run(world: World, names: Sequence[str], app: App, *, also: Sequence[Post] = ()) -> None:
    config = ["--config", str(app.config_path)] if app.config_path else []
    quarantines = Quarantines([sys.executable, "-m", "nous", *config, "worker", "--quarantine"])
    crew = fleet(world, names, open_quarantine=quarantines.open, also=also)
    _stop_on_signals(crew, quarantines)
    crew.start()
    was_asked = crew.wait()
    quarantines.stop()
    if not was_asked:
        raise Unavailable("a part of it has ended by itself: the log says which and why; start it again")


def _stop_on_signals(crew: Fleet, quarantines: Quarantines) -> None:
    """Let the first signal drain the fleet, and the second one end the process."""
    received: list[int] = []

    def on_signal(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1:
            quarantines.ask_to_end()
            os._exit(INTERRUPTED)
        crew.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)


def _empty_quarantine(world: World, name: str) -> None:
    known_as = world.job_names.own(name)
    run_quarantine(
        known_as,
        client=world.rq_client,
        name=f"{known_as}-quarantine-{socket.gethostname()}-{os.getpid()}-{token_hex(2)}",
        runner=world.attempts,
        blame=world.attempts.blame,
    )
