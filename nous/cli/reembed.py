"""`nous reembed`: vectors for facts that have none by the embedder that is set."""

from collections.abc import Sequence

import click

from nous.cli.frame import App
from nous.cli.knowing import knowledge_of
from nous.learning.announcing import unembedded
from nous.scope import Scope
from nous.store.base import NO_VECTORS
from nous.wiring import World, build


@click.command()
@click.option("--scope", multiple=True, help="Only this scope; may be given again. Without it, all of them.")
@click.option("--dry-run", is_flag=True, help="Only count.")
@click.pass_obj
def reembed(app: App, *, scope: Sequence[str], dry_run: bool) -> None:
    """Have workers embed the facts that have no vector by the embedder that is set, and compare them with the others.

    So after the embedder was changed, or did not answer. Vectors by another embedder stay where they are, so workers
    that still use it are not disturbed, and going back costs nothing.
    """
    world = build(app.settings)
    scopes = [Scope.parse(each) for each in scope] or world.kit.episodes.scopes()
    waiting = {each: _waiting(world, each) for each in scopes}
    for each, count in waiting.items():
        if count and not dry_run:
            state = f"{world.kit.facts.read(each, embedder=NO_VECTORS).version} {world.kit.embedder.id}"
            world.bus.publish(unembedded(each, state=state, at=world.kit.clock()))
        click.echo(f"{each}: {count} facts wait for a vector by {world.kit.embedder.id}")
    if not any(waiting.values()):
        click.echo(f"every fact has its vector by {world.kit.embedder.id}")


def _waiting(world: World, scope: Scope) -> int:
    with knowledge_of(world, scope) as knowledge:
        return sum(1 for _ in knowledge.without_vector())
