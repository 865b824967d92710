"""Counters of what came of calls, in one hash in Redis. Its name stands in `nous.llm.keys`."""

from collections import defaultdict
from collections.abc import Mapping
from itertools import chain
from typing import Any
from uuid import uuid4

import redis

from nous.bus.redis_errors import translated
from nous.bus.scripts import Scripts
from nous.llm.keys import LlmKeys


class RedisTally:
    """A `Tally` on one Redis primary. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: LlmKeys | None = None) -> None:
        self._client: Any = client
        self._keys = keys or LlmKeys()
        self._run = Scripts(client, package="nous.llm.scripts")

    def count(self, model: str, **counts: int) -> None:
        fields = ((f"{name}:{model}", added) for name, added in counts.items())
        self._run("count", (self._keys.calls, self._keys.said(uuid4().hex)), tuple(chain.from_iterable(fields)))

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        with translated():
            found: dict[bytes, bytes] = self._client.hgetall(self._keys.calls)
        by_model: dict[str, dict[str, int]] = defaultdict(dict)
        for field, value in sorted(found.items()):
            name, _, model = field.decode().partition(":")
            by_model[model][name] = int(value)
        return dict(sorted(by_model.items()))
