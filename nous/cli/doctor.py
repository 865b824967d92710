"""`nous doctor`: check everything that nous needs, each with its remedy."""

import re
import shutil
import socket
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import click

from nous.cli.framework import FAILED, App, json_option
from nous.cli.install import installer_of
from nous.cli.output import counted, fitted, render, second
from nous.domain.errors import NousError
from nous.hosts import hosts
from nous.hosts.base import Host
from nous.hosts.spool import Spool
from nous.jobs.rq.queue import workers_seen
from nous.redis_server.client import address, embedded_directory, masked, write_trouble

OK, WARNING, PROBLEM = "ok", "warning", "problem"

_LITTLE = 2 << 30  # bytes on the disk of the data directory: below, a warning
_HARDLY_ANY = 200 << 20
_LATE = 600.0  # seconds after which a payload in the spool is late
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_CONNECT = 3.0  # seconds


@dataclass(frozen=True, slots=True)
class Check:
    """A result: state, what was looked at, what was found, and what to do."""

    state: str
    about: str
    found: str
    remedy: str = ""


Checks = Iterator[Check]


@click.command()
@json_option
@click.pass_obj
def doctor(app: App, *, as_json: bool) -> None:
    """Check the installation, the server, hooks and models, and say what to do.

    Exit 1 for a problem. A model is not asked anything: only its address is tried.
    """
    groups: tuple[Callable[[App], Checks], ...] = (_of_python, _of_server, _of_disk, _of_hooks, _of_spool, _of_model)
    checks = [check for group in groups for check in group(app)]
    render([asdict(check) for check in checks], _lines(checks), as_json=as_json)
    click.get_current_context().exit(FAILED if any(each.state == PROBLEM for each in checks) else 0)


def _lines(checks: list[Check]) -> Iterator[str]:
    for check in checks:
        yield f"{check.state:<8} {fitted(f'{check.about}: {check.found}', beside=9)}"
        if check.remedy:
            yield f"         {check.remedy}"
    states = [check.state for check in checks]
    yield f"\n{counted(states.count(PROBLEM), 'problem')}, {counted(states.count(WARNING), 'warning')}"


def _of_python(app: App) -> Checks:
    settings = app.settings
    needed = {
        "local": ("onnxruntime", "tokenizers") if settings.embedder == "minilm" else (),
        "llm": ("httpx2",) if settings.background_model or ":" in settings.embedder else (),
    }
    for extra, modules in needed.items():
        if missing := [name for name in modules if find_spec(name) is None]:
            found = f"{', '.join(missing)} of the extra {extra} are missing"
            yield Check(PROBLEM, "packages", found, f"pip install 'nous-bus[{extra}]'")
    if ":" in settings.embedder and settings.dedup.one_sided is None:
        found = f"{settings.embedder} is not calibrated, so only equal facts merge"
        yield Check(WARNING, "embedder", found, "`nous calibrate` prints the setting")


def _of_server(app: App) -> Checks:
    where = masked(address(app.settings))
    try:
        trouble = write_trouble(app.container.client)
    except NousError as error:
        yield Check(PROBLEM, "server", str(error), f"see redis_url in `nous config`; it is {where}")
        return
    kind = "embedded, " if embedded_directory(app.settings) else ""
    if trouble:
        yield Check(PROBLEM, "server", f"{where} refuses to write: {trouble}", "make room on its disk")
    else:
        yield Check(OK, "server", f"{kind}safe, answers and writes, at {where}")
    if not workers_seen(app.container.rq_client, app.container.job_names):
        yield Check(WARNING, "workers", "none runs, so sessions wait", "nous up")
    if dead := app.container.dead_letters.count():
        yield Check(WARNING, "dead letters", f"{dead:,}", "`nous dead-letters list` says which, and why")


def _of_disk(app: App) -> Checks:
    directory = next(path for path in (app.settings.data_dir, *app.settings.data_dir.parents) if path.is_dir())
    free = shutil.disk_usage(directory).free
    state = PROBLEM if free < _HARDLY_ANY else WARNING if free < _LITTLE else OK
    remedy = "" if state is OK else "make room: without it, the server takes no sessions, and hooks cannot write"
    yield Check(state, "disk", f"{free / 2**30:.1f} GiB are free for {app.settings.data_dir}", remedy)


def _of_hooks(app: App) -> Checks:
    installer, spool = installer_of(app), Spool(app.settings.data_dir / "spool")
    for host in hosts().values():
        if not host.folder.is_dir():
            continue
        if not installer.has_hooks(host):
            yield Check(WARNING, host.title, "no hook is installed", f"nous install {host.name}")
            continue
        seen = spool.seen_at(host.name)
        found = f"the hook is installed, and was last heard of {_time(seen)}" if seen else "the hook is installed"
        if host.is_trusted(_toml(host.folder / host.mcp_settings), str(host.folder / host.settings)):
            yield Check(OK, host.title, found)
        else:
            yield Check(WARNING, host.title, f"{found}, but not trusted", host.left_to_do)
        yield from _of_sessions(app, host, since=installer.installed_at(host) or time.time())


def _of_sessions(app: App, host: Host, *, since: float) -> Checks:
    """Compare the sessions on disk, ended since the installation, with those with an episode."""
    ended = time.time() - app.settings.sessions.idle
    names: set[str] = set()
    for path in (host.folder / host.sessions).rglob("*.json*") if host.sessions else ():
        with suppress(OSError):
            if since < path.stat().st_mtime < ended and "subagents" not in path.parts:
                names.update(_UUID.findall(path.name)[-1:])
    try:
        missing = sorted(name for name in names if not app.container.memory.episodes.scopes_of(name))
    except NousError:  # said of the server already
        return
    if missing:
        found = f"{len(missing)} of {counted(len(names), 'session')} on disk have no episode, such as {missing[0]}"
        remedy = f"`nous up` looks for them in {host.folder / host.sessions} while it runs"
        yield Check(WARNING, host.title, found, remedy)


def _of_spool(app: App) -> Checks:
    spool = Spool(app.settings.data_dir / "spool")
    waiting, rejected, failed_at = spool.waiting(), spool.rejected(), spool.failed_at()
    if waiting:
        is_late = time.time() - _written(waiting[0]) > _LATE
        remedy = "start `nous up`: it publishes them" if is_late else ""
        yield Check(WARNING if is_late else OK, "spool", f"{counted(len(waiting), 'report')} of hooks wait", remedy)
    if rejected:
        why = spool.reason(rejected[-1])
        remedy = f"look at {spool.rejects}, and delete what is of no use"
        yield Check(WARNING, "spool", f"{counted(len(rejected), 'report')} could not be used, the last: {why}", remedy)
    if failed_at:
        remedy = f"{app.settings.data_dir}/hook.log says why, if there was room; `nous install` of any host resets this"
        yield Check(PROBLEM, "hooks", f"one could not write {_time(failed_at)}", remedy)


def _of_model(app: App) -> Checks:
    settings = app.settings
    if not settings.background_model:
        yield Check(
            OK, "model", "none is set for this shell, so episodes are extractive", "docs/models.md says how to set one"
        )
        return
    llm = app.container.llm
    if llm.problem or llm.summarizer is None:
        yield Check(PROBLEM, "model", str(llm.problem), "`nous config` shows the settings")
        return
    url = urlsplit(llm.address)
    try:
        port = url.port or (80 if url.scheme == "http" else 443)
        socket.create_connection((url.hostname or "", port), timeout=_CONNECT).close()
    except OSError as error:
        found = f"{settings.background_model} at {url.hostname}:{url.port or url.scheme} cannot be reached: {error}"
        yield Check(PROBLEM, "model", found, "check llm.base_url, the network, and that the model runs")
        return
    for name, pause in app.container.llm_stores.circuits.current().items():
        yield Check(WARNING, "model", f"{name} fails, and is called again from {second(pause.until)} on")
    yield Check(OK, "model", f"{settings.background_model} at {url.hostname} can be reached")


def _written(path: Path) -> float:
    with suppress(OSError):  # published meanwhile
        return path.stat().st_mtime
    return time.time()


def _toml(path: Path) -> dict[str, object]:
    with suppress(OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return tomllib.loads(path.read_text()) if path.suffix == ".toml" else {}
    return {}


def _time(stamp: float) -> str:
    return f"on {datetime.fromtimestamp(stamp, tz=UTC):%Y-%m-%d at %H:%M} UTC"
