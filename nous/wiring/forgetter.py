"""Who forgets, of a world that is built."""

from nous.bus.keys import BusKeys
from nous.bus.redis_erasing import RedisBusErasure
from nous.jobs.rq.erasing import RqErasure
from nous.learning.announcing import unembedded
from nous.llm.keys import LlmKeys
from nous.llm.redis_pins import RedisPins
from nous.runtime.forget import Forgetter
from nous.runtime.forgetting import Stores
from nous.scope import Scope
from nous.store.keys import StoreKeys
from nous.store.redis_erasure import RedisErasure
from nous.wiring.world import World


def stores_of(world: World) -> Stores:
    """All places in which something may have to be forgotten."""
    prefix, retention = world.settings.prefix, world.settings.retention
    return Stores(
        tombstones=world.tombstones,
        bus=RedisBusErasure(world.client, BusKeys(prefix), marker_ttl=retention.marker_ttl),
        jobs=RqErasure(world.rq_client, world.job_names),
        store=RedisErasure(world.client, StoreKeys(prefix)),
        pins=RedisPins(world.client, LlmKeys(prefix), answer_ttl=retention.answer_ttl),
        indexes=world.kit.memory.indexes,
    )


def forgetter(world: World) -> Forgetter:
    """Who removes what was learned, from all places."""

    def mend(scope: Scope) -> None:
        """Have workers embed the facts that are told in other words now, or whose turn went with a session."""
        state = f"{world.kit.facts.read(scope, embedder='none').version} {world.kit.embedder.id}"
        world.bus.publish(unembedded(scope, state=state, at=world.kit.clock()))

    return Forgetter(stores_of(world), clock=world.kit.clock, on_rewritten=mend)
