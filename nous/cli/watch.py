"""`nous watch`: hand over the sessions in folders that are over, and of which nobody has told."""

import signal
import socket
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

import click
import orjson
import structlog
from pydantic import TypeAdapter, ValidationError

from nous.bus.base import Lane
from nous.cli.frame import FAILED, App
from nous.cli.show import counted, print_json, say
from nous.errors import BadInput
from nous.producer import producer_of
from nous.readable import one_line
from nous.runtime.publish import About
from nous.runtime.watch import HandOver, Journal, Told, Watcher
from nous.runtime.watching import Fate, Rules, Sweep
from nous.scope import Scope
from nous.settings.model import Seconds, WatchSettings
from nous.store.keys import StoreKeys
from nous.store.redis_watched import RedisWatched
from nous.store.watched import Place, Untouched, Watched
from nous.wiring import World, build

_MOST_NAMED = 20
_IDLE = "idle"
"""Why such sessions are over, as events say it."""

_log = structlog.stdlib.get_logger(__name__)


def _seconds(_: click.Context, __: click.Parameter, written: str | None) -> float | None:
    if written is None:
        return None
    try:
        return TypeAdapter[float](Seconds).validate_python(float(written) if written.isdecimal() else written)
    except ValidationError:
        raise click.BadParameter(f'{written!r} is no duration: say seconds, or "90s", "5m", "2h", "7d"') from None


@click.command()
@click.argument("folders", nargs=-1, metavar="[FOLDER...]", type=click.Path(path_type=Path))
@click.option("--once", is_flag=True, help="Sweep once, and end; exit 1 if a file was refused.")
@click.option("--idle", callback=_seconds, help="A session is over when its file was not written for so long: 30m.")
@click.option("--scope", help="project, agent/project or tenant/agent/project")
@click.option("--since", callback=_seconds, help="Leave what was not written for longer: 30d.")
@click.option("--upload", is_flag=True, help="Send what the files say along, for workers on other hosts.")
@click.option("--dry-run", is_flag=True, help="Say what would be handed over; nothing is read, and nothing remembered.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; without --once, a line each sweep.")
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
    """Hand over the sessions in each FOLDER, and below, that are over and not known: a hook that never told of them.

    Without a FOLDER, those of the settings (watch.folders). A session is over when its file was not written for some
    time, and handed over again when it has grown since. Hidden folders are swept where they are named. What no reader
    takes for a transcript is refused, and told once; name the folders in which an agent keeps nothing else.
    """
    app: App = ctx.obj
    settings = _said(app.settings.watch, folders, scope=scope, **chosen)
    world = build(app.settings)
    watched: Watched = RedisWatched(world.client, StoreKeys(app.settings.prefix))
    hand_over = handing_over(world, settings, upload=upload)
    if dry_run:
        watched, hand_over = Untouched(watched), _not_now
    report = _Report(settings, is_dry=dry_run, as_json=as_json, is_whole=once or dry_run)
    watcher = _watcher(settings, watched=watched, hand_over=hand_over, told=report)
    if once or dry_run:
        sweep = watcher.sweep()
        report(sweep)
        ctx.exit(FAILED if sweep.refused else 0)
    _stop_on_signals(watcher)
    watcher.run()


def watcher_of(world: World) -> Iterator[Watcher]:
    """Who sweeps the folders that are set, if any are."""
    settings = world.settings.watch
    if settings.folders:
        watched = RedisWatched(world.client, StoreKeys(world.settings.prefix))
        hand_over = handing_over(world, settings)
        yield _watcher(settings, watched=watched, hand_over=hand_over, told=Journal())


def handing_over(world: World, settings: WatchSettings, *, upload: bool = False) -> HandOver:
    """Publishes as `nous publish` does, so that what a hook has told of too is the same event."""
    producer, about = producer_of(world), About(scope=Scope.parse(settings.scope), reason=_IDLE)

    def hand_over(path: Path, *, lane: Lane) -> Iterator[tuple[str, bool]]:
        for each in producer.publish(path, about, upload=upload, lane=lane, warn=_log.warning):
            yield each.event.session_id, each.receipt.fresh

    return hand_over


def _not_now(path: Path, *, lane: Lane) -> Iterator[tuple[str, bool]]:
    del lane
    yield path.name, True


def _watcher(settings: WatchSettings, *, watched: Watched, hand_over: HandOver, told: Told) -> Watcher:
    scope, host = Scope.parse(settings.scope), socket.gethostname()
    return Watcher(
        [Place(scope, host, folder.resolve()) for folder in dict.fromkeys(settings.folders)],
        watched=watched,
        hand_over=hand_over,
        rules=Rules(idle=settings.idle, since=settings.since),
        clock=time.time,
        interval=settings.interval,
        told=told,
    )


def _said(settings: WatchSettings, folders: Sequence[Path], **chosen: Any) -> WatchSettings:
    """*settings*, with what was said on the command line in their place. Raises `BadInput`."""
    for folder in folders:
        if not folder.exists():
            raise BadInput(f"there is no folder {folder}")
    said = {name: value for name, value in {"folders": tuple(folders) or None, **chosen}.items() if value is not None}
    found = settings.model_copy(update=said)
    if not found.folders:
        raise BadInput("name a folder, or set watch.folders: there is none to look at")
    Scope.parse(found.scope)
    return found


def _stop_on_signals(watcher: Watcher) -> None:
    """Let the first signal end the sweep after the file that is at hand, and the second one the process."""

    def on_signal(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        watcher.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)


class _Report:
    """Tells people, or with *as_json* programs, what came of each sweep; *is_whole* where there is one alone."""

    def __init__(self, settings: WatchSettings, *, is_dry: bool, as_json: bool, is_whole: bool) -> None:
        self._settings = settings
        self._is_dry = is_dry
        self._as_json = as_json
        self._is_whole = is_whole
        self._journal = Journal()
        self._last = ""

    def __call__(self, sweep: Sweep) -> None:
        if self._as_json and self._is_whole:
            print_json(self._as_object(sweep))
        elif self._as_json:
            click.echo(orjson.dumps(self._as_object(sweep)))
        elif self._is_whole:
            self._tell(sweep)
        elif str(sweep) != self._last:
            say(str(sweep))
        if not self._is_whole:
            self._journal(sweep)
        self._last = str(sweep)

    def _tell(self, sweep: Sweep) -> None:
        verb = "would be handed over" if self._is_dry else "handed over"
        for each in sweep.handed_over if self._is_dry else ():
            say(one_line(f"{verb}, {each.lane}: {each.path}"))
        _complain(sweep)
        say(str(sweep).replace(str(Fate.HANDED_OVER), verb))
        if past := sweep.fates[Fate.PAST]:
            say(
                f"nous: {counted(past, 'file')} not written for {self._settings.since / 86400:g} days: "
                "hand over what is wanted of them with nous publish --bulk FILE..., or all with nous watch --since",
                err=True,
            )

    def _as_object(self, sweep: Sweep) -> dict[str, Any]:
        return {
            "seen": sweep.seen,
            **{fate.replace(" ", "_"): sweep.fates[fate] for fate in Fate},
            "dry_run": self._is_dry,
            "files": {
                "handed_over": [
                    {"path": str(each.path), "lane": each.lane, "sessions": [] if self._is_dry else each.sessions}
                    for each in sweep.handed_over
                ],
                "refused": _reasons(sweep.refused),
                "refused_before": _reasons(sweep.refused_before),
                "put_off": _reasons(sweep.put_off),
                "unreadable": _reasons(sweep.unreadable),
            },
        }


def _reasons(said: dict[Path, str]) -> list[dict[str, str]]:
    return [{"path": str(path), "why": reason} for path, reason in said.items()]


def _complain(sweep: Sweep) -> None:
    """Say on standard error what was refused, put off or not looked into."""
    told = [*sweep.refused.items(), *sweep.put_off.items(), *sweep.unreadable.items()]
    for path, reason in islice(told, _MOST_NAMED):
        say(one_line(f"nous: {path}: {reason}"), err=True)
    if len(told) > _MOST_NAMED:
        say(f"nous: and {len(told) - _MOST_NAMED} more, which --json lists", err=True)
