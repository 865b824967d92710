"""Waiting until sessions have come to rest, and saying how far they are."""

import sys
import time
from collections.abc import Sequence
from uuid import UUID

import click

from nous.producer import Published
from nous.runtime.track import Step, all_at_rest, follow
from nous.wiring import World

_LOOK = 0.2
"""Seconds between two looks; nothing tells a producer when a session has come to rest."""


def awaited(world: World, published: Sequence[Published], *, timeout: float) -> dict[UUID, list[Step]]:
    """Each session's steps, by event id, once all have come to rest or *timeout* seconds have passed.

    It looks at each at least once.
    """
    deadline = time.monotonic() + timeout
    chains: dict[UUID, list[Step]] = {}
    each_once = list({each.event.id: each for each in published}.values())
    waiting = each_once
    while waiting:
        for each in waiting:
            chains[each.event.id] = list(
                follow(each.event.id, type(each.event), workers=world.workers, ledger=world.ledger)
            )
        waiting = [each for each in waiting if not all_at_rest(chains[each.event.id])]
        _tell_progress(len(each_once) - len(waiting), len(each_once))
        if time.monotonic() >= deadline:
            break
        if waiting:
            time.sleep(_LOOK)
    return chains


def has_failed(chains: dict[UUID, list[Step]]) -> bool:
    """Whether a session is dead or parked, or had not come to rest in time."""
    return any(step.has_failed or not step.is_at_rest for chain in chains.values() for step in chain)


def _tell_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{done}/{total} sessions", err=True, nl=done == total)
