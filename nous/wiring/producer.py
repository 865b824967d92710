"""Who hands sessions over, of a world that is built."""

from functools import cache

from nous.events import SessionEvent
from nous.producer import Producer
from nous.settings import load_settings
from nous.wiring.world import World, build


def producer_of(world: World) -> Producer:
    readers = [each for each in world.subscriptions if issubclass(each.kind, SessionEvent)]
    return Producer(world.bus, world.ledger, world.dead, world.handover, readers=readers, tombstones=world.tombstones)


@cache
def default_producer() -> Producer:
    """The producer for the settings of this process; one connection serves every call."""
    return producer_of(build(load_settings()))
