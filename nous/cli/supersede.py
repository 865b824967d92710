"""`nous facts supersede`: one fact in the place of another."""

from uuid import UUID

import click

from nous.bus.base import Refused
from nous.cli.frame import App
from nous.cli.knowing import knowledge_of, one_of
from nous.cli.show import say
from nous.effects import AppendFacts, Effects
from nous.errors import BadInput, Retryable
from nous.learning.superseding import superseding
from nous.readable import shortened
from nous.scope import Scope
from nous.wiring import World, build

_REFUSALS = 100


@click.command()
@click.argument("old")
@click.argument("new")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option(
    "--because", default="somebody said so", show_default=True, help="The reason, as `nous why` will tell it."
)
@click.pass_obj
def supersede(app: App, old: str, new: str, *, scope: str, because: str) -> None:
    """Put fact NEW in the place of fact OLD: ids as `nous facts` prints them, or their beginnings.

    OLD stays, and is told as what was true until then. It is left out of what is current, and of what new facts are
    compared with.
    """
    world, within = build(app.settings), Scope.parse(scope)
    with knowledge_of(world, within) as knowledge:
        gone, stays = (one_of(name, knowledge, world, within) for name in (old, new))
    if gone is stays:
        raise BadInput(f"{old} and {new} are the same fact: {shortened(gone.fact.text, 70)}")
    _commit(world, within, gone.fact.id, stays.fact.id, because)
    say(f"{shortened(gone.fact.text, 70)}\n  gave way to: {shortened(stays.fact.text, 90)}")


def _commit(world: World, scope: Scope, old: UUID, new: UUID, because: str) -> None:
    for _ in range(_REFUSALS):
        with knowledge_of(world, scope) as knowledge:
            row = superseding(old, by=new, knowledge=knowledge, reason=because, at=world.kit.clock())
            write = AppendFacts(scope=scope, expected=knowledge.version, rows=(row,))
        if not isinstance(world.bus.apply(Effects(writes=(write,))), Refused):
            return
    raise Retryable(f"{scope} is being taught by others without a pause; try again")
