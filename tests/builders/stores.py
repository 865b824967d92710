"""A store in all its parts, and the bus that writes it."""

from dataclasses import dataclass
from functools import partial

import redis

from nous.bus.base import Bus, Committed, Subscription
from nous.bus.memory.bus import MemoryBus
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects, Write
from nous.domain.events import DecisionRecorded
from nous.store.base import (
    AnchoredSummaries,
    DecisionSource,
    Episodes,
    FactLog,
    SessionStates,
)
from nous.store.keys import StoreKeys
from nous.store.memory import MemoryStore
from nous.store.redis.decisions import RedisDecisions
from nous.store.redis.episodes import RedisEpisodes
from nous.store.redis.fact_log import RedisFactLog
from nous.store.redis.plans import plan_for
from nous.store.redis.sessions import RedisAnchoredSummaries, RedisSessionStates
from nous.store.redis.transcripts import RedisUploads
from nous.store.transcript_source import Uploads, upload_of

KEYS = StoreKeys("t")
KEEPER = Subscription("decision-keeper", DecisionRecorded)


@dataclass(frozen=True)
class Store:
    """All that is stored."""

    anchors: AnchoredSummaries
    session_states: SessionStates
    decisions: DecisionSource
    episodes: Episodes
    facts: FactLog
    uploads: Uploads
    bus: Bus

    def write(self, *writes: Write) -> bool:
        """Whether they were applied."""
        return isinstance(self.bus.apply(Effects(writes=writes)), Committed)


def in_memory() -> Store:
    store = MemoryStore(KEYS)
    return Store(*[store] * 6, bus=MemoryBus(store.apply, has_upload=store.has_upload))


def on_redis(client: redis.Redis) -> Store:
    bus_keys = BusKeys("t")
    return Store(
        anchors=RedisAnchoredSummaries(client, KEYS),
        session_states=RedisSessionStates(client, KEYS),
        decisions=RedisDecisions(client, KEYS, bus_keys=bus_keys, group=KEEPER.group),
        episodes=RedisEpisodes(client, KEYS),
        facts=RedisFactLog(client, KEYS),
        uploads=RedisUploads(client),
        bus=RedisBus(
            client, plan_of=partial(plan_for, keys=KEYS), keys=bus_keys, upload_of=partial(upload_of, keys=KEYS)
        ),
    )
