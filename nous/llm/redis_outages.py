"""Which providers are left alone, in Redis. The keys stand in `nous.llm.keys`, the scripts in `nous/llm/scripts`."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

import redis

from nous.bus.redis_errors import translated
from nous.bus.scripts import Scripts
from nous.llm.base import Failure
from nous.llm.blame import Failing
from nous.llm.books import Pause
from nous.llm.keys import LlmKeys
from nous.llm.pauses import GLANCE, Outage, Pauses
from nous.store import records

_WEEK = 7 * 24 * 3600


class RedisOutages:
    """`Outages` on one Redis primary; an outage is forgotten when nothing was noted for two days.

    *client* must not decode responses. *clock* replaces the server's time (seconds since the epoch), for tests.
    """

    def __init__(
        self,
        client: redis.Redis,
        keys: LlmKeys | None = None,
        *,
        pauses: Pauses | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._client: Any = client
        self._keys = keys or LlmKeys()
        self._pauses = pauses or Pauses()
        self._run = Scripts(client, clock, package="nous.llm.scripts")

    def enter(self, provider: str, *, probe: float) -> Pause | None:
        return _pause(self._run("enter", (self._keys.outages,), (provider, uuid4().hex, repr(probe), repr(GLANCE))))

    def failed(self, provider: str, failure: Failure, *, until: datetime | None = None) -> Pause | None:
        keys = (self._keys.outages, self._keys.said(uuid4().hex))
        given = repr(until.timestamp()) if until else ""
        course = self._pauses.after(failure)
        policy = (repr(self._pauses.longest), repr(course.first), repr(course.cap), course.begins)
        return _pause(self._run("failed", keys, (provider, failure.value, given, *policy)))

    def passed(self, provider: str) -> None:
        with translated():
            self._client.hdel(self._keys.outages, provider)

    def put_back(self, provider: str) -> None:
        self._run("put_back", (self._keys.outages,), (provider,))

    def failing(self, provider: str, question: str) -> Failing | None:
        with translated():
            found = self._client.get(self._keys.failing(provider, question))
        return records.decode(Failing, found) if found else None

    def note_failing(self, provider: str, question: str, failing: Failing) -> None:
        with translated():
            self._client.set(self._keys.failing(provider, question), records.encode(failing), ex=_WEEK)

    def current(self) -> Mapping[str, Pause]:
        with translated():
            found: dict[bytes, bytes] = self._client.hgetall(self._keys.outages)
        return {provider.decode(): records.decode(Outage, raw).pause() for provider, raw in sorted(found.items())}


def _pause(found: list[Any] | None) -> Pause | None:
    """A pause as a script returns it: its end, since when, what failed, how often."""
    if not found:
        return None
    ends, since, failure, failures = found
    return Outage(since=float(since), failure=Failure(failure.decode()), failures=failures).pause(until=float(ends))
