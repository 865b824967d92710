"""`nous demo`: bundled real sessions become episodes and facts, before your eyes."""

import shlex
import shutil
import sys
from importlib import resources
from pathlib import Path

import click

from nous import log
from nous.app import World, build, fleet
from nous.app.services import producer_of
from nous.bus.accounting import Account
from nous.cli.framework import FAILED, App
from nous.cli.lookup import fact_lines, knowledge_of
from nous.cli.memory import episode_lines
from nous.cli.publish import awaited, has_failed
from nous.domain.fact import Confirmed, Linked, Row, Superseded
from nous.domain.scope import Scope
from nous.facts.fact_index import Knowledge
from nous.redis_server import embedded
from nous.services.publisher import Published
from nous.services.session_intake import About
from nous.text.sanitize import shortened

_SCOPE = Scope(project="demo")
_PATIENCE = 300.0
"""Seconds for bundled sessions that take two; more means that something hangs."""


@click.command()
@click.option("--dir", "directory", type=click.Path(path_type=Path), help="Where to keep the demo's data.")
@click.pass_context
def demo(ctx: click.Context, directory: Path | None) -> None:
    """Turn bundled real sessions of several agents into episodes and facts.

    It uses a server and a directory of its own. When it is done no process is left, and the data stays: a second run
    finds that nothing is new.
    """
    app: App = ctx.obj
    home = directory or app.settings.data_dir / "demo"
    quiet = {"data_dir": home, "redis_url": "embedded:", "log_level": "warning"}
    log.configure("warning", app.settings.log_format)
    settings = app.settings.model_copy(update=quiet)
    try:
        failed = _run(build(settings))
    finally:
        embedded.stop(home)
    click.echo(f"\nThe data stays in {home}. To look again, and to stop the server that looking starts:")
    for command in ("facts --scope demo", "down"):
        click.echo(f"  NOUS_DATA_DIR={shlex.quote(str(home))} {_program()} {command}")
    ctx.exit(FAILED if failed else 0)


def _program() -> str:
    """What to type to run this program again."""
    called = Path(sys.argv[0])
    if shutil.which("nous"):
        return "nous"
    return shlex.quote(str(called)) if called.name == "nous" else f"{shlex.quote(sys.executable)} -m nous"


def _run(world: World) -> bool:
    """Publish, work, show; returns whether a session failed."""
    before = {each.group: world.ledger.account(each) for each in world.subscriptions}
    published = _publish(world)
    new = sum(each.receipt.fresh for each in published)
    click.echo(f"{len(published)} sessions, {new} of them new" + ("" if new else ": nothing is new") + "\n")
    crew = fleet(world, sorted(world.workers), open_quarantine=lambda _: None)
    crew.start()
    try:
        steps = awaited(world, published, timeout=_PATIENCE)
    finally:
        crew.stop()
        crew.wait()
    _show(world)
    handled = sum(_handled(world.ledger.account(each)) - _handled(before[each.group]) for each in world.subscriptions)
    click.echo(f"\n{new} sessions were new, and workers handled {handled} events for them.")
    return has_failed(steps)


def _publish(world: World) -> list[Published]:
    producer = producer_of(world)
    about = About(scope=_SCOPE, agent_id="demo")
    published: list[Published] = []
    for path in _samples():
        for each in producer.publish(path, about):
            published.append(each)
            click.echo(f"{'published' if each.receipt.fresh else 'known':<10} {path.parent.name}/{path.name}")
    return published


def _samples() -> list[Path]:
    """The bundled sessions, by format."""
    folder = Path(str(resources.files("nous.samples")))
    return sorted(path for path in folder.glob("*/*") if path.suffix in {".json", ".jsonl", ".txt"})


def _handled(account: Account) -> int:
    return account.done + sum(account.skipped.values()) + account.dead


def _show(world: World) -> None:
    episodes = world.kit.episodes.recent(_SCOPE)
    click.secho(f"{len(episodes)} episodes", bold=True)
    for episode in episodes:
        click.echo("\n".join(episode_lines(episode)) + "\n")
    rows = world.kit.facts.read(_SCOPE).rows
    with knowledge_of(world, _SCOPE) as knowledge:
        current = list(knowledge.current())
        click.secho(f"{len(current)} facts", bold=True)
        for known in current:
            click.echo("\n".join(fact_lines(known, knowledge)))
        verdicts = [line for row in rows if (line := _verdict(row, knowledge))]
    click.secho(f"\n{len(verdicts)} facts were said again, or nearly", bold=True)
    click.echo("\n".join(verdicts))


def _verdict(row: Row, knowledge: Knowledge) -> str | None:
    """What was merged, superseded or kept apart, and why."""
    match row:
        case Confirmed():
            return f"merged     {shortened(row.text, 70)}  ({row.reason}; session {row.source.session_id})"
        case Superseded():
            return f"superseded {shortened(knowledge[row.fact_id].fact.text, 70)}  ({row.reason})"
        case Linked():
            return f"kept apart {shortened(knowledge[row.fact_id].fact.text, 70)}  ({row.reason})"
        case _:
            return None
