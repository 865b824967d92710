"""`nous demo`: publish bundled sessions, run all workers, print the episodes and facts."""

import shlex
import shutil
import sys
from pathlib import Path

import click

from nous import log
from nous.app.container import Container, build
from nous.app.services import producer_of
from nous.app.worker_process import worker_process
from nous.cli.framework import FAILED, App
from nous.cli.lookup import knowledge_of
from nous.cli.memory_text import episode_lines, fact_lines
from nous.cli.publish import awaited, has_failed
from nous.domain.scope import Scope
from nous.redis_server import embedded
from nous.samples import bundled_sessions
from nous.services.publisher import Published
from nous.services.session_intake import SessionMetadata

_SCOPE = Scope(project="demo")
_TIMEOUT = 300.0  # seconds for the bundled sessions. They take two; more means that something hangs


@click.command()
@click.option("--dir", "directory", type=click.Path(path_type=Path), help="Directory for the demo's data.")
@click.pass_obj
def demo(app: App, directory: Path | None) -> None:
    """Turn bundled real sessions of several agents into episodes and facts.

    It runs a server of its own in a directory of its own. No process is left when it ends. The data stays, so a second
    run finds that nothing is new.
    """
    home = directory or app.settings.data_dir / "demo"
    log.configure("warning", app.settings.log_format)
    settings = {"data_dir": home, "redis_url": "embedded:", "log_level": "warning"}
    try:
        failed = _run(build(app.settings.model_copy(update=settings)))
    finally:
        embedded.stop(home)
    click.echo(f"\nThe data stays in {home}. Look at it again (this starts its server), then stop the server:")
    for command in ("facts --scope demo", "down"):
        click.echo(f"  NOUS_DATA_DIR={shlex.quote(str(home))} {_program()} {command}")
    click.get_current_context().exit(FAILED if failed else 0)


def _program() -> str:
    called = Path(sys.argv[0])
    if shutil.which("nous"):
        return "nous"
    return shlex.quote(str(called)) if called.name == "nous" else f"{shlex.quote(sys.executable)} -m nous"


def _run(container: Container) -> bool:
    published = _publish(container)
    new = [each.event.id for each in published if each.receipt.fresh]
    click.echo(f"{len(published)} sessions, {len(new)} of them new{'' if new else ': nothing is new'}\n")
    process = worker_process(container, sorted(container.workers), open_quarantine=lambda _: None)
    process.start()
    try:
        steps = awaited(container, published, timeout=_TIMEOUT)
    finally:
        process.stop()
        process.wait()
    _show(container)
    handled = sum(len(steps[each]) for each in new)
    click.echo(f"\n{len(new)} sessions were new, and workers handled {handled} events for them.")
    return has_failed(steps)


def _publish(container: Container) -> list[Published]:
    producer = producer_of(container)
    about = SessionMetadata(scope=_SCOPE, agent_id="demo")
    published: list[Published] = []
    for path in bundled_sessions():
        for each in producer.publish(path, about):
            published.append(each)
            click.echo(f"{'published' if each.receipt.fresh else 'known':<10} {path.parent.name}/{path.name}")
    return published


def _show(container: Container) -> None:
    episodes = container.memory.episodes.recent(_SCOPE)
    click.secho(f"{len(episodes)} episodes", bold=True)
    for episode in episodes:
        click.echo("\n".join(episode_lines(episode)) + "\n")
    with knowledge_of(container, _SCOPE) as knowledge:
        current = list(knowledge.current())
        click.secho(f"{len(current)} facts", bold=True)
        for known in current:
            click.echo("\n".join(fact_lines(known, knowledge)))
