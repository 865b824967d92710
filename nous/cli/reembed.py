"""`nous reembed`: vectors for facts and episodes that have none by the embedder that is set."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import click

from nous.bus.base import Lane
from nous.cli.frame import App
from nous.cli.knowing import knowledge_of, scopes_named
from nous.cli.show import counted, print_json
from nous.jobs.rq.census import workers_seen
from nous.learning.announcing import unembedded, unembedded_episodes
from nous.scope import Scope
from nous.wiring import World, build


class Waiting(NamedTuple):
    """How many facts and episodes of a scope have no vector."""

    facts: int
    episodes: int

    def __str__(self) -> str:
        told = (counted(count, noun) for count, noun in zip(self, ("fact", "episode"), strict=True) if count)
        return " and ".join(told)


@click.command()
@click.option("--scope", multiple=True, help="Only this scope; may be given again. Without it, all of them.")
@click.option("--dry-run", is_flag=True, help="Only count.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def reembed(app: App, *, scope: Sequence[str], dry_run: bool, as_json: bool) -> None:
    """Have workers embed the facts and episodes that have no vector by the embedder that is set.

    So after the embedder was changed, and the workers were started anew with it, or after it did not answer; and for
    episodes of before they had any. Facts are compared with the others by it. Vectors by another embedder stay where
    they are, so workers that still use it are not disturbed, and going back costs nothing.
    """
    world = build(app.settings)
    embedder = world.kit.embedder.id
    counts = {each: _waiting(world, each, embedder) for each in scopes_named(world, scope)}
    waiting = {each: count for each, count in counts.items() if any(count)}
    if not dry_run:
        for each, count in waiting.items():
            _hand_over(world, each, count)
    if as_json:
        print_json([_as_object(*row, embedder, is_handed_over=not dry_run) for row in waiting.items()])
    else:
        click.echo("\n".join(_lines(waiting, embedder, is_dry=dry_run)))
    if waiting and not dry_run and not workers_seen(world.rq_client, world.job_names):
        click.echo("nous: no worker runs: nous up", err=True)


def _waiting(world: World, scope: Scope, embedder: str) -> Waiting:
    with knowledge_of(world, scope) as knowledge:
        facts = sum(1 for _ in knowledge.without_vector())
    return Waiting(facts, len(world.kit.episode_vectors.without_vector(scope, embedder=embedder)))


def _hand_over(world: World, scope: Scope, count: Waiting) -> None:
    # Each demand is a new one: workers that still had another embedder may have passed over one for the same facts.
    demand, at = str(uuid4()), world.kit.clock()
    if count.facts:
        world.bus.publish(unembedded(scope, state=demand, at=at))
    if count.episodes:
        world.bus.publish(unembedded_episodes(scope, state=demand, at=at), lane=Lane.BULK)


def _lines(waiting: Mapping[Scope, Waiting], embedder: str, *, is_dry: bool) -> Iterator[str]:
    for scope, count in waiting.items():
        verb = "would be" if is_dry else "was" if sum(count) == 1 else "were"
        yield f"{scope}: {count} without a vector by {embedder} {verb} handed to workers"
    if not waiting:
        yield f"every fact has its vector by {embedder}, and every episode"


def _as_object(scope: Scope, count: Waiting, embedder: str, *, is_handed_over: bool) -> dict[str, Any]:
    return {"scope": str(scope), **count._asdict(), "embedder": embedder, "handed_over": is_handed_over}
