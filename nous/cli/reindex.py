"""`nous reindex`: build the index of facts anew from the log."""

import click

from nous.cli.frame import App
from nous.cli.knowing import scopes_named
from nous.cli.show import table
from nous.errors import BadInput
from nous.wiring import build


@click.command()
@click.option("--scope", help="project, agent/project or tenant/agent/project")
@click.option("--all", "everything", is_flag=True, help="Every scope.")
@click.pass_obj
def reindex(app: App, *, scope: str | None, everything: bool) -> None:
    """Build the index of a scope's facts anew from its log, and drop those of other embedders.

    Workers may run meanwhile: they take part in the building, and judge nothing by an index that is not complete.
    """
    if everything == bool(scope):
        raise BadInput("name a --scope, or say --all")
    world = build(app.settings)
    scopes = scopes_named(world, [scope] if scope else [])
    indexes, embedder = world.kit.memory.indexes, world.kit.embedder
    if indexes is None:
        click.echo('each process holds its own index and builds it when it starts (index.engine = "memory")')
        return
    built = [(str(each), indexes.rebuild(each, embedder=embedder.id, dim=embedder.dim)) for each in scopes]
    click.echo(table(("scope", "facts"), ((name, f"{count:,}") for name, count in built)) if built else "no scopes")
