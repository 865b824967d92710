"""A store in all its parts, and the bus that writes it."""

from collections.abc import Callable, Iterable
from functools import partial

import redis

from builders import servers
from builders.buses import WholeBus
from nous.bus.base import Conflict, Subscription
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects, Write
from nous.domain.events import DecisionRecorded
from nous.store.keys import StoreKeys
from nous.store.redis.decisions import RedisDecisions
from nous.store.redis.episodes import RedisAnchoredSummaries, RedisEpisodes, RedisSessionStates
from nous.store.redis.fact_log import RedisFactLog
from nous.store.redis.plans import plan_for
from nous.store.redis.transcripts import RedisUploads
from nous.store.transcript_source import upload_of

KEYS = StoreKeys("t")
KEEPER = Subscription("decision-keeper", DecisionRecorded)


class WholeStore(RedisDecisions, RedisEpisodes, RedisSessionStates, RedisAnchoredSummaries, RedisFactLog, RedisUploads):
    """Every part of the store in one, and the bus that writes it, on a fake server unless *client* is of another."""

    def __init__(
        self, client: redis.Redis | None = None, *, prefix: str = "nous", clock: Callable[[], float] | None = None
    ) -> None:
        self.client = client or servers.fake()
        keys, bus_keys = StoreKeys(prefix), BusKeys(prefix)
        super().__init__(self.client, keys, bus_keys=bus_keys, group=KEEPER.group)
        plan_of, uploaded = partial(plan_for, keys=keys), partial(upload_of, keys=keys)
        self.bus = WholeBus(self.client, plan_of=plan_of, keys=bus_keys, upload_of=uploaded, clock=clock)

    def apply(self, writes: Iterable[Write]) -> str | None:
        """Apply all, or none and return the broken precondition."""
        verdict = self.bus.apply(Effects(writes=tuple(writes)))
        return verdict.reason if isinstance(verdict, Conflict) else None

    def write(self, *writes: Write) -> bool:
        """Whether they were applied."""
        return self.apply(writes) is None
