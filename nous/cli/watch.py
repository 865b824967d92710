"""`nous watch`: submit ended sessions from folders, such as those that no hook has reported."""

import signal
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click
import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from nous.app.container import build
from nous.app.services import read_only_watcher, watcher
from nous.cli.framework import FAILED, App
from nous.cli.output import counted, print_json, say
from nous.domain.errors import BadInput
from nous.domain.scope import Scope
from nous.services.folder_watch import FileOutcome, FolderWatcher, SweepLog, SweepReport
from nous.settings.model import Seconds, Settings
from nous.text.sanitize import one_line

_MOST_NAMED = 20

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
@click.option("--scope", help="project, agent/project or tenant/agent/project")
@click.option("--since", callback=_seconds, help="Skip files that were not written for longer: 30d.")
@click.option("--upload", is_flag=True, help="Send the file contents along, for workers on other hosts.")
@click.option("--dry-run", is_flag=True, help="Show which files would be read. Read and record nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON. Without --once, print one line per sweep.")
@click.pass_context
def watch(
    ctx: click.Context,
    folders: Sequence[Path],
    *,
    once: bool,
    scope: str | None,
    upload: bool,
    dry_run: bool,
    as_json: bool,
    **chosen: float | None,
) -> None:
    """Submit the sessions below each FOLDER that have ended and are not known yet.

    So it finds sessions that no hook has reported. Without a FOLDER, it sweeps those of the settings (watch.folders). A
    session has ended if its file was not written for some time. It is submitted again if it has grown since. Hidden
    folders are only swept if you name them. A file that no reader takes for a transcript is refused and reported once.
    So name folders in which an agent keeps nothing else.
    """
    app: App = ctx.obj
    settings = _overridden(app.settings, folders, scope=scope, **chosen)
    container = build(settings)
    report = _Report(settings, is_dry=dry_run, as_json=as_json, is_whole=once or dry_run)
    sweeper = read_only_watcher(container, told=report) if dry_run else watcher(container, told=report, upload=upload)
    if once or dry_run:
        sweep = sweeper.sweep()
        report(sweep)
        ctx.exit(FAILED if sweep.refused else 0)
    _stop_on_signals(sweeper)
    sweeper.run()


def _overridden(
    settings: Settings, folders: Sequence[Path], *, idle: float | None, scope: str | None, since: float | None
) -> Settings:
    """Return *settings* with the values of the command line in their place.

    Raises:
        BadInput: a folder does not exist, or there is none.
    """
    for folder in folders:
        if not folder.exists():
            raise BadInput(f"there is no folder {folder}")
    watching = _updated(settings.watch, folders=tuple(folders) or None, scope=scope, since=since)
    if not watching.folders:
        raise BadInput("name a folder, or set watch.folders: there is none to look at")
    Scope.parse(watching.scope)
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
        if self._as_json and self._is_whole:
            print_json(self._as_object(sweep))
        elif self._as_json:
            click.echo(orjson.dumps(self._as_object(sweep)))
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
        _complain(sweep)
        say(str(sweep).replace(str(FileOutcome.HANDED_OVER), verb))
        if past := sweep.fates[FileOutcome.PAST]:
            say(
                f"nous: {counted(past, 'file')} not written for {self._since / 86400:g} days: "
                "submit those that you want with nous publish --bulk FILE..., or all with nous watch --since",
                err=True,
            )

    def _as_object(self, sweep: SweepReport) -> dict[str, Any]:
        return {
            "seen": sweep.seen,
            **{fate.replace(" ", "_"): sweep.fates[fate] for fate in FileOutcome},
            "dry_run": self._is_dry,
            "files": {
                "handed_over": [
                    {"path": str(each.path), "lane": each.priority, "sessions": [] if self._is_dry else each.sessions}
                    for each in sweep.handed_over
                ],
                "refused": _reasons(sweep.refused),
                "refused_before": _reasons(sweep.refused_before),
                "put_off": _reasons(sweep.put_off),
                "unreadable": _reasons(sweep.unreadable),
            },
        }


def _reasons(values: dict[Path, str]) -> list[dict[str, str]]:
    return [{"path": str(path), "why": reason} for path, reason in values.items()]


def _complain(sweep: SweepReport) -> None:
    """Print on standard error which files were refused, put off or not readable."""
    problems = [*sweep.refused.items(), *sweep.put_off.items(), *sweep.unreadable.items()]
    for path, reason in islice(problems, _MOST_NAMED):
        say(one_line(f"nous: {path}: {reason}"), err=True)
    if len(problems) > _MOST_NAMED:
        say(f"nous: and {len(problems) - _MOST_NAMED} more, which --json lists", err=True)
