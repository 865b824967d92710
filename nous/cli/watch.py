"""`nous watch`: scan folders repeatedly, or once, and publish session files that are idle."""

import signal
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import click
from pydantic import TypeAdapter, ValidationError

from nous.app.container import build
from nous.app.services import watcher
from nous.cli.framework import FAILED, App, dry_run_option, json_option, option_of_scope
from nous.cli.output import counted, note, print_json, say, with_progress
from nous.domain.errors import BadInput
from nous.domain.scope import Scope
from nous.services.folder_watch import SUBMITTED, FileOutcome, FolderWatcher, SweepLog, SweepReport
from nous.settings.model import Seconds, Settings
from nous.text.sanitize import one_line
from nous.transcript.load import accessing


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
    _stop_on_signals(sweeper)
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


def _stop_on_signals(watcher: FolderWatcher) -> None:
    """Stop after the current file on the first signal; end the process on the second."""

    def on_signal(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        watcher.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)


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
