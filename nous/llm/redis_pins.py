"""Pinned answers in Redis, each a string. Their names stand in `nous.llm.keys`."""

from typing import Any
from uuid import UUID

import redis

from nous.bus.redis_errors import translated
from nous.errors import Misconfigured
from nous.llm.base import Question, Reply
from nous.llm.keys import LlmKeys
from nous.scope import Scope
from nous.store import records


class RedisPins:
    """`Pins` on one Redis primary, each for *answer_ttl* seconds. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: LlmKeys | None = None, *, answer_ttl: int) -> None:
        self._client: Any = client
        self._keys = keys or LlmKeys()
        self._answer_ttl = answer_ttl

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
        key, raw = self._keys.answer(question, model), records.encode(reply)
        # Sent twice, it finds what it has kept itself.
        with translated():
            known: bytes | None = self._client.set(key, raw, nx=True, get=True, ex=self._answer_ttl)
        return records.decode(Reply, known) if known is not None else reply

    def drop(self, scope: Scope, subject: UUID | None = None, *, dry_run: bool = False) -> int:
        """Forget the answers about *subject*, or all of *scope*; returns how many. With *dry_run* it only counts."""
        with translated():
            found: list[bytes] = list(self._client.scan_iter(self._keys.answers(scope, subject), count=1000))
            return len(found) if dry_run or not found else int(self._client.unlink(*found))
