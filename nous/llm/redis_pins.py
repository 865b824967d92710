"""Pinned answers in Redis, each a string. Their names, and that of the drops, stand in `nous.llm.keys`."""

from typing import Any
from uuid import UUID

import redis

from nous.bus.redis_errors import translated
from nous.bus.scripts import Scripts
from nous.errors import Misconfigured
from nous.llm.base import Question, Reply
from nous.llm.keys import LlmKeys
from nous.scope import Scope
from nous.store import records

_DROPS = 7 * 86400
"""Seconds that drops are counted after the last one: far longer than any question takes."""

_ALL = "all"
"""Of which every subject's answers were dropped."""


class RedisPins:
    """`Pins` on one Redis primary, each for *answer_ttl* seconds. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: LlmKeys | None = None, *, answer_ttl: int) -> None:
        self._client: Any = client
        self._keys = keys or LlmKeys()
        self._answer_ttl = answer_ttl
        self._run = Scripts(client, package="nous.llm.scripts")

    def drops(self, scope: Scope, subject: UUID) -> int:
        with translated():
            return sum(map(int, filter(None, self._client.hmget(self._keys.drops(scope), str(subject), _ALL))))

    def find(self, question: Question, model: str) -> Reply | None:
        with translated():
            raw: bytes | None = self._client.get(self._keys.answer(question, model))
            if raw is None:
                return None
            try:
                return records.decode(Reply, raw)
            except Misconfigured:
                # Of another release, or damaged: as good as none, and in the way of another.
                self._client.delete(self._keys.answer(question, model))
                return None

    def pin(self, question: Question, model: str, reply: Reply) -> Reply:
        matter = question.matter
        keys = self._keys.drops(matter.scope), self._keys.answer(question, model)
        drops = "" if matter.drops is None else matter.drops
        arguments = (str(matter.subject), drops, records.encode(reply), self._answer_ttl)
        return records.decode(Reply, self._run("pin", keys, arguments))

    def drop(self, scope: Scope, subject: UUID | None = None, *, dry_run: bool = False) -> int:
        """Forget the answers about *subject*, or all of *scope*; returns how many. With *dry_run* it only counts."""
        if not dry_run:
            self._count_drop(scope, _ALL if subject is None else str(subject))
        with translated():
            found: list[bytes] = list(self._client.scan_iter(self._keys.answers(scope, subject), count=1000))
            return len(found) if dry_run or not found else int(self._client.unlink(*found))

    def _count_drop(self, scope: Scope, of: str) -> None:
        with translated(), self._client.pipeline(transaction=True) as pipe:
            pipe.hincrby(self._keys.drops(scope), of, 1)
            pipe.expire(self._keys.drops(scope), _DROPS)
            pipe.execute()
