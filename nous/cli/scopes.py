"""`nous scopes`: whose memory there is."""

from typing import Any

import click

from nous.cli.frame import App
from nous.cli.knowing import ALL
from nous.cli.show import print_json, say, table
from nous.fact import Learned, Superseded, standing
from nous.scope import Scope
from nous.store.base import NO_VECTORS
from nous.wiring import World, build


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def scopes(app: App, *, as_json: bool) -> None:
    """List the scopes: how many sessions have left an episode, how many facts are current, when one was learned last.

    A scope is one user's or project's memory, as --scope names it; nothing is read or merged across scopes.
    """
    world = build(app.settings)
    rows = [_row(world, scope) for scope in world.kit.episodes.scopes()]
    if as_json:
        print_json(rows)
    elif rows:
        cells = ((str(each["sessions"]), str(each["facts"]), _day(each), each["scope"]) for each in rows)
        say(table(("sessions", "facts", "last learned", "scope"), cells))
    else:
        say("there is no scope yet: nous publish makes one")


def _row(world: World, scope: Scope) -> dict[str, Any]:
    rows = world.kit.facts.read(scope, embedder=NO_VECTORS).rows
    learned = {row.fact.id: row.fact.learned_at for row in rows if isinstance(row, Learned)}
    gave_way = {row.fact_id for row in standing(rows) if isinstance(row, Superseded)}
    return {
        "scope": str(scope),
        "sessions": len(world.kit.episodes.recent(scope, ALL)),
        "facts": len(learned.keys() - gave_way),
        "last_learned": max(learned.values(), default=None),
    }


def _day(row: dict[str, Any]) -> str:
    return f"{row['last_learned']:%Y-%m-%d}" if row["last_learned"] else "-"
