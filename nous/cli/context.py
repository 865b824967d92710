"""`nous context`: what a new session is told."""

import click

from nous.cli.frame import App
from nous.cli.knowing import knowledge_of
from nous.recall.context import LONGEST, Notes, block, ranked
from nous.scope import Scope
from nous.wiring import build


@click.command()
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option(
    "--budget", default=LONGEST, type=click.IntRange(1, LONGEST), show_default=True, help="Characters of the block."
)
@click.pass_obj
def context(app: App, *, scope: str, budget: int) -> None:
    """Print what a new session should know: the last session in short, and facts, as notes that fit a budget.

    The block is headed as notes, not instructions, and marked so that nothing in it can end it. Nothing is printed
    where nothing is known.
    """
    world, within = build(app.settings), Scope.parse(scope)
    with knowledge_of(world, within) as knowledge:
        facts = ranked(knowledge)
    episodes = world.kit.episodes.recent(within, 1)
    anchor = world.kit.anchors.latest(within)
    is_newer = anchor is not None and (not episodes or anchor.at >= episodes[0].ended_at)
    notes = Notes(facts=facts, anchor=anchor if is_newer else None, episode=episodes[0] if episodes else None)
    if told := block(notes, budget=budget):
        click.echo(told)
