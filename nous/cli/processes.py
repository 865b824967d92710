"""`nous worker`, `nous up` and `nous watch`: run in this process until signalled."""

import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from secrets import token_hex
from types import FrameType
from typing import Any

import click
import structlog
from pydantic import TypeAdapter, ValidationError

from nous.app.container import Container, build
from nous.app.services import watcher
from nous.app.worker_process import worker_process
from nous.cli.framework import FAILED, INTERRUPTED, App, dry_run_option, json_option, option_of_scope
from nous.cli.install import installer_of
from nous.cli.output import counted, note, print_json, say, with_progress
from nous.domain.errors import BadInput, Misconfigured, Unavailable
from nous.domain.scope import Scope
from nous.hosts.loops import NOTES_INTERVAL, NotesRefresher, session_sweepers, spool_drain
from nous.jobs.rq.pool_worker import run_quarantine
from nous.redis_server.client import address, embedded_directory, masked
from nous.redis_server.data_dir import held
from nous.runtime.worker_process import Loop, QuarantineStarter
from nous.services.folder_watch import SUBMITTED, FileOutcome, SweepLog, SweepReport
from nous.settings.model import Seconds, Settings
from nous.text.sanitize import one_line
from nous.transcript.load import accessing

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
        notes = NotesRefresher(container, interval=NOTES_INTERVAL)
        hooks = [spool_drain(container), notes, *session_sweepers(container, installer_of(app))]
        _run(container, sorted(container.workers), app, also=[*sweeping, *hooks])
    if embedded_directory(app.settings):
        click.echo("stopped; the server keeps running until `nous down`")


def _run(container: Container, names: Sequence[str], app: App, *, also: Sequence[Loop] = ()) -> None:
    config = ["--config", str(app.config_path)] if app.config_path else []
    quarantines = QuarantineStarter([sys.executable, "-m", "nous", *config, "worker", "--quarantine"])
    process = worker_process(container, names, open_quarantine=quarantines.open, also=also)
    _stop_on_signals(process.stop, at_once=quarantines.ask_to_end)
    process.start()
    was_asked = process.wait()
    quarantines.stop()
    if not was_asked:
        raise Unavailable("a part of it has stopped unexpectedly: the log says which and why; start it again")


def _stop_on_signals(stop: Callable[[], None], *, at_once: Callable[[], None] = lambda: None) -> None:
    """Stop after what is under way on the first signal; end the process on the second."""
    received: list[int] = []

    def on_signal(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1:
            at_once()
            os._exit(INTERRUPTED)
        stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)


def _seconds(_: click.Context, __: click.Parameter, written: str | None) -> float | None:
    if written is None:
        return None
    try:
        return TypeAdapter[float](Seconds).validate_python(written)
    except ValidationError:
        raise click.BadParameter(f'{written!r} is no duration: say seconds, or "90s", "5m", "2h", "7d"') from None


@click.command()
@click.argument("folders", nargs=-1, metavar="[FOLDER...]", type=click.Path(path_type=Path))
@click.option("--once", is_flag=True, help="Sweep once, then exit. Exit 1 if a file was refused or nous failed on one.")
@click.option("--idle", callback=_seconds, help="A session has ended if its file was not written for this long: 30m.")
@option_of_scope("project, agent/project or tenant/agent/project")
@click.option("--since", callback=_seconds, help="Skip files that were not written for longer: 30d.")
@click.option("--upload", is_flag=True, help="Send the file contents along, for workers on other hosts.")
@dry_run_option
@json_option
@click.pass_obj
def watch(
    app: App, folders: Sequence[Path], *, once: bool, upload: bool, dry_run: bool, as_json: bool, **chosen: Any
) -> None:
    """Submit the sessions below each FOLDER that have ended and are not known yet.

    Without a FOLDER, it sweeps those of the settings (watch.folders). A session has ended if its file was not written
    for some time. Hidden folders are only swept if you name them. A file that no reader takes for a transcript is
    refused and reported once. JSON is one line per sweep, unless there is only one.
    """
    settings = _overridden(app.settings, folders, **chosen)
    container = build(settings)
    journal, last = SweepLog(), ""

    def report(sweep: SweepReport) -> None:
        nonlocal last
        if as_json:
            print_json(_as_object(sweep), indent=False)
        elif str(sweep) != last:
            say(last := str(sweep))
        journal(sweep)

    bar = partial(with_progress, noun="publishing")
    sweeper = watcher(container, settings.watch.folders, told=report, upload=upload, dry_run=dry_run, progress=bar)
    if once or dry_run:
        sweep = sweeper.sweep()
        if as_json:
            print_json({**_as_object(sweep), "dry_run": dry_run})
        else:
            _print_text(sweep, is_dry=dry_run, since=settings.watch.since)
        click.get_current_context().exit(FAILED if sweep.refused else 0)
    _stop_on_signals(sweeper.stop)
    sweeper.run()


def _overridden(
    settings: Settings, folders: Sequence[Path], *, idle: float | None, scope: Scope | None, since: float | None
) -> Settings:
    for folder in folders:
        with accessing(folder):
            if not folder.exists():
                raise BadInput(f"there is no folder {folder}")
    chosen = {"folders": tuple(folders), "scope": scope and str(scope), "since": since}
    watching = settings.watch.model_copy(update={name: value for name, value in chosen.items() if value})
    if not watching.folders:
        raise BadInput("name a folder, or set watch.folders: there is none to look at")
    sessions = settings.sessions if idle is None else settings.sessions.model_copy(update={"idle": idle})
    return settings.model_copy(update={"watch": watching, "sessions": sessions})


def _print_text(sweep: SweepReport, *, is_dry: bool, since: float) -> None:
    for each in sweep.handed_over if is_dry else ():
        say(one_line(f"would be read, {each.priority}: {each.path}"))
    for problems in (sweep.refused, sweep.put_off, sweep.unreadable):
        for path, reason in problems.items():
            note(f"{path}: {reason}")
    say(str(sweep).replace(SUBMITTED, "would be read") if is_dry else str(sweep))
    if past := sweep.fates[FileOutcome.PAST]:
        note(
            f"{counted(past, 'file')} not written for {since / 86400:g} days: "
            "submit those that you want with nous publish --bulk FILE..., or all with nous watch --since 3650d"
        )


def _as_object(sweep: SweepReport) -> dict[str, Any]:
    files: dict[str, Any] = {
        "handed_over": [
            {"path": str(each.path), "lane": each.priority, "sessions": each.sessions} for each in sweep.handed_over
        ]
    }
    for name in ("refused", "put_off", "unreadable"):
        problems: Mapping[Path, str] = getattr(sweep, name)
        files[name] = [{"path": str(path), "why": reason} for path, reason in problems.items()]
    counts = {fate.replace(" ", "_"): sweep.fates[fate] for fate in FileOutcome}
    return {"seen": sweep.seen, **counts, "files": files}
