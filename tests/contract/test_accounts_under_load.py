"""The account of a group adds up at every moment, whatever is being done to its deliveries meanwhile."""

import random
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import redis

from nous.bus.base import DeadLetterKind, Priority, Subscription
from nous.bus.erasure import ErasureTarget
from nous.bus.redis.accounting import RedisDeadLetterQueue, RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.erasure import RedisBusErasure
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects
from nous.domain.events import SessionEnded
from nous.domain.scope import Scope

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
KEYS = BusKeys("t")
LOOKS = 1000
HANDS = 8


class Work:
    """What one thread does to the deliveries, in an order of its own."""

    def __init__(self, client: Any, ended: Callable[..., SessionEnded], seed: int) -> None:
        self._client = client
        self._bus = RedisBus(client, plan_of=lambda _: CommitPlan(), keys=KEYS)
        self._dead = RedisDeadLetterQueue(client, KEYS)
        self._ended, self._seed = ended, seed
        self._random = random.Random(seed)
        self.did = Counter[str]()

    def __call__(self, is_over: threading.Event) -> None:
        deeds = (self.commit, self.dead_letter, self.redrive, self.erase)
        number = 0
        while not is_over.is_set():
            number += 1
            self._bus.publish(*(self._ended(f"s-{self._seed}-{number}-{each}") for each in range(4)))
            deed = self._random.choices(deeds, weights=(8, 3, 3, 1))[0]
            deed()
            self.did[deed.__name__] += 1

    def commit(self) -> None:
        for delivery in self._received():
            self._bus.commit(delivery, Effects(skipped=self._random.choice([None, "too short"])))

    def dead_letter(self) -> None:
        for delivery in self._received():
            grave = self._random.choice(list(DeadLetterKind))
            self._bus.dead_letter(delivery.ref, progress=None, reason="x", grave=grave)

    def redrive(self) -> None:
        for letter in self._dead.letters()[:5]:
            if self._dead.payload(letter):
                self._dead.redrive(letter, SUMMARIZER)

    def erase(self) -> None:
        erasure = RedisBusErasure(self._client, KEYS)
        erasure.erase(erasure.find(ErasureTarget(scope=Scope(), session_id=f"s-{self._seed}-1-0")))

    def _received(self) -> list[Any]:
        return list(self._bus.receive(SUMMARIZER, priority=Priority.LIVE, limit=5, lease=60))


def test_it_adds_up_whenever_it_is_looked_at(redis_client: redis.Redis, ended: Any) -> None:
    is_over = threading.Event()
    work = [Work(redis_client, ended, seed) for seed in range(HANDS)]
    threads = [threading.Thread(target=each, args=(is_over,)) for each in work]
    delivery_stats = RedisDeliveryStats(redis_client, KEYS)

    for thread in threads:
        thread.start()
    try:
        balances = Counter(delivery_stats.counters(SUMMARIZER).discrepancy for _ in range(LOOKS))
    finally:
        is_over.set()
        for thread in threads:
            thread.join()

    assert balances == {0: LOOKS}
    assert delivery_stats.counters(SUMMARIZER).received > 0
    done = sum((each.did for each in work), Counter[str]())
    assert done.keys() == {"commit", "dead_letter", "redrive", "erase"}
