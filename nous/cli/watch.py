"""`nous watch`: submit ended sessions from folders, such as those that no hook has reported."""

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click
from pydantic import BaseModel, TypeAdapter, ValidationError

from nous.app.container import build
from nous.app.services import read_only_watcher, watcher
from nous.cli.framework import FAILED, App, dry_run_option, json_option, option_of_scope
from nous.cli.output import counted, note, print_json, say
from nous.domain.errors import BadInput
from nous.domain.scope import Scope
from nous.services.folder_watch import FileOutcome, FolderWatcher, SweepLog, SweepReport
from nous.settings.model import Seconds, Settings
from nous.text.sanitize import one_line

Model = TypeVar("Model", bound=BaseModel)


def _seconds(_: click.Context, __: click.Parameter, written: str | None) -> float | None:
    if written is None:
        return None
    try:
        return TypeAdapter[float](Seconds).validate_python(float(written) if written.isdecimal() else written)
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
    app: App,
    folders: Sequence[Path],
    *,
    once: bool,
    upload: bool,
    dry_run: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Submit the sessions below each FOLDER that have ended and are not known yet.

    So it finds sessions that no hook has reported. Without a FOLDER, it sweeps those of the settings (watch.folders). A
    session has ended if its file was not written for some time. It is submitted again if it has grown since. Hidden
    folders are only swept if you name them. A file that no reader takes for a transcript is refused and reported once.
    So name folders in which an agent keeps nothing else. JSON is one line per sweep, unless there is only one.
    """
    settings = _overridden(app.settings, folders, **chosen)
    container = build(settings)
    report = _Report(settings, is_dry=dry_run, as_json=as_json, is_whole=once or dry_run)
    sweeper = read_only_watcher(container, told=report) if dry_run else watcher(container, told=report, upload=upload)
    if once or dry_run:
        sweep = sweeper.sweep()
        report(sweep)
        click.get_current_context().exit(FAILED if sweep.refused else 0)
    _stop_on_signals(sweeper)
    sweeper.run()


def _overridden(
    settings: Settings, folders: Sequence[Path], *, idle: float | None, scope: Scope | None, since: float | None
) -> Settings:
    """Return *settings* with the values of the command line in their place."""
    for folder in folders:
        if not folder.exists():
            raise BadInput(f"there is no folder {folder}")
    named = str(scope) if scope else None
    watching = _updated(settings.watch, folders=tuple(folders) or None, scope=named, since=since)
    if not watching.folders:
        raise BadInput("name a folder, or set watch.folders: there is none to look at")
    return _updated(settings, watch=watching, sessions=_updated(settings.sessions, idle=idle))


def _updated(group: Model, **values: Any) -> Model:
    return group.model_copy(update={name: value for name, value in values.items() if value is not None})


def _stop_on_signals(watcher: FolderWatcher) -> None:
    """Stop after the current file on the first signal; end the process on the second."""

    def on_signal(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        watcher.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)


class _Report:
    """Prints the result of each sweep, as text or, with *as_json*, as JSON.

    *is_whole* says that there is only one sweep.
    """

    def __init__(self, settings: Settings, *, is_dry: bool, as_json: bool, is_whole: bool) -> None:
        self._since = settings.watch.since
        self._is_dry = is_dry
        self._as_json = as_json
        self._is_whole = is_whole
        self._journal = SweepLog()
        self._last = ""

    def __call__(self, sweep: SweepReport) -> None:
        if self._as_json:
            print_json(self._as_object(sweep), indent=self._is_whole)
        elif self._is_whole:
            self._print_text(sweep)
        elif str(sweep) != self._last:
            say(str(sweep))
        if not self._is_whole:
            self._journal(sweep)
        self._last = str(sweep)

    def _print_text(self, sweep: SweepReport) -> None:
        verb = "would be read" if self._is_dry else "handed over"
        for each in sweep.handed_over if self._is_dry else ():
            say(one_line(f"{verb}, {each.priority}: {each.path}"))
        for problems in (sweep.refused, sweep.put_off, sweep.unreadable):
            for path, reason in problems.items():
                note(f"{path}: {reason}")
        say(str(sweep).replace(str(FileOutcome.HANDED_OVER), verb))
        if past := sweep.fates[FileOutcome.PAST]:
            note(
                f"{counted(past, 'file')} not written for {self._since / 86400:g} days: "
                "submit those that you want with nous publish --bulk FILE..., or all with nous watch --since"
            )

    def _as_object(self, sweep: SweepReport) -> dict[str, Any]:
        files: dict[str, Any] = {
            "handed_over": [
                {"path": str(each.path), "lane": each.priority, "sessions": [] if self._is_dry else each.sessions}
                for each in sweep.handed_over
            ]
        }
        for name in ("refused", "put_off", "unreadable"):
            problems: Mapping[Path, str] = getattr(sweep, name)
            files[name] = [{"path": str(path), "why": reason} for path, reason in problems.items()]
        counts = {fate.replace(" ", "_"): sweep.fates[fate] for fate in FileOutcome}
        return {"seen": sweep.seen, **counts, "dry_run": self._is_dry, "files": files}
