"""Redis stores of model-call state: responses, token usage, circuits and usage counters.

`nous.llm.redis.keys` lists the keys.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import redis

from nous.domain import record_codec
from nous.domain.errors import Misconfigured
from nous.domain.scope import Scope
from nous.llm.base import Failure, Question, Reply
from nous.llm.redis.keys import LlmKeys
from nous.llm.state import CallCounts, OpenCircuit, Reservation, SuspectQuestion, TokenUsage, failed_again
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts

_DAY = 24 * 3600
_DROPS = 7 * _DAY
"""Seconds that invalidations are counted after the last one: far longer than any question takes."""

_ALL = "all"
"""Field of an invalidation of all subjects."""


class _RedisStore:
    """A store on one Redis primary, whose *client* must not decode responses.

    *clock* replaces the server's time (seconds since the epoch), for tests.
    """

    def __init__(
        self, client: redis.Redis, keys: LlmKeys | None = None, *, clock: Callable[[], float] | None = None
    ) -> None:
        self._client: Any = client
        self._keys = keys or LlmKeys()
        self._run = Scripts(client, clock, package="nous.llm.redis")


class RedisResponseStore(_RedisStore):
    """`ResponseStore` on Redis; responses expire after *answer_ttl* seconds."""

    def __init__(self, client: redis.Redis, keys: LlmKeys | None = None, *, answer_ttl: int) -> None:
        super().__init__(client, keys)
        self._answer_ttl = answer_ttl

    def invalidation_count(self, scope: Scope, subject: UUID) -> int:
        with translated():
            counts: list[bytes | None] = self._client.hmget(self._keys.invalidation_count(scope), str(subject), _ALL)
        return sum(int(count or 0) for count in counts)

    def find(self, question: Question, model: str) -> Reply | None:
        with translated():
            raw: bytes | None = self._client.get(self._keys.answer(question, model))
            if raw is None:
                return None
            try:
                return record_codec.decode(Reply, raw)
            except Misconfigured:
                # From another release, or damaged: useless, and it would block a new one.
                self._client.delete(self._keys.answer(question, model))
                return None

    def save(self, question: Question, model: str, reply: Reply) -> Reply:
        matter = question.matter
        keys = self._keys.invalidation_count(matter.scope), self._keys.answer(question, model)
        drops = "" if matter.invalidation_count is None else matter.invalidation_count
        arguments = (str(matter.subject), drops, record_codec.encode(reply), self._answer_ttl)
        return record_codec.decode(Reply, self._run("pin", keys, arguments))

    def invalidate(self, scope: Scope, subject: UUID | None = None, *, dry_run: bool = False) -> int:
        """Delete the responses about *subject*, or all of *scope*; with *dry_run*, count them."""
        with translated():
            if not dry_run:
                counts = self._keys.invalidation_count(scope)
                with self._client.pipeline(transaction=True) as pipe:
                    pipe.hincrby(counts, _ALL if subject is None else str(subject), 1)
                    pipe.expire(counts, _DROPS)
                    pipe.execute()
            found: list[bytes] = list(self._client.scan_iter(self._keys.answers(scope, subject), count=1000))
            return len(found) if dry_run or not found else int(self._client.unlink(*found))


_LIVES = (8 * _DAY, _DAY)
"""TTLs in seconds. Usage is shown for a week. A reservation is needed until its call is over, which takes less than a
day.
"""


class RedisTokenUsageStore(_RedisStore):
    """`TokenUsageStore` on Redis."""

    def reserve(self, reservation: Reservation, *, limit: int) -> bool:
        return bool(self._book("reserve", reservation, reservation.tokens, limit))

    def settle(self, reservation: Reservation, *, spent: int) -> None:
        self._book("settle", reservation, spent)

    def usage(self, day: date) -> tuple[TokenUsage, ...]:
        with translated():
            raw: dict[bytes, bytes] = self._client.hgetall(self._keys.tokens(day))
        tokens = {field.decode(): int(value) for field, value in raw.items()}
        scopes = sorted({Scope.parse(field.partition(":")[2]) for field in tokens})
        return tuple(
            TokenUsage(
                scope=scope, day=day, spent=tokens.get(f"spent:{scope}", 0), reserved=tokens.get(f"reserved:{scope}", 0)
            )
            for scope in scopes
        )

    def _book(self, script: str, reservation: Reservation, *figures: int) -> Any:
        keys = (self._keys.tokens(reservation.day), self._keys.token_calls(reservation.day))
        scope = str(reservation.scope)
        return self._run(script, keys, (scope, f"{scope}/{reservation.id}", *figures, *_LIVES))


GLANCE = 2.0
"""Seconds until a caller that waits for a probe checks again; most probes end long before their deadline."""

_LONGEST = 24 * 3600.0
"""Limit, in seconds, of an interval that the provider asks for itself."""


class _Backoff(NamedTuple):
    """Open intervals after one kind of failure: they double from `first` up to `cap` seconds.

    The circuit stays closed until the failure in a row that `begins` numbers.
    """

    first: float = 1.0
    cap: float = 60.0
    begins: int = 1


_BACKOFF = {Failure.QUOTA: _Backoff(first=30.0, cap=900.0), Failure.TIMEOUT: _Backoff(begins=3)}


@dataclass(frozen=True, slots=True)
class _Circuit:
    """Stored record of a provider that has not answered since; a `pause_ends` of 0 is unset."""

    since: float
    failure: Failure
    failures: int
    pause_ends: float


class RedisCircuitStore(_RedisStore):
    """`CircuitStore` on Redis; a circuit expires two days after its last change."""

    def admit(self, provider: str, *, probe: float) -> OpenCircuit | None:
        return _pause(self._run("admit", (self._keys.outages,), (provider, uuid4().hex, repr(probe), repr(GLANCE))))

    def record_failure(self, provider: str, failure: Failure, *, until: datetime | None = None) -> OpenCircuit | None:
        keys = (self._keys.outages, self._keys.said(uuid4().hex))
        given = repr(until.timestamp()) if until else ""
        backoff = _BACKOFF.get(failure, _Backoff())
        policy = (repr(_LONGEST), repr(backoff.first), repr(backoff.cap), backoff.begins)
        return _pause(self._run("record_failure", keys, (provider, failure.value, given, *policy)))

    def record_success(self, provider: str) -> None:
        with translated():
            self._client.hdel(self._keys.outages, provider)

    def release_probe(self, provider: str) -> None:
        self._run("release_probe", (self._keys.outages,), (provider,))

    def suspect(self, provider: str, question: str, calls: CallCounts) -> SuspectQuestion:
        key = self._keys.failing(provider, question)
        with translated():
            known: bytes | None = self._client.get(key)
            failing = failed_again(record_codec.decode(SuspectQuestion, known) if known else None, calls)
            self._client.set(key, record_codec.encode(failing), ex=7 * _DAY)
        return failing

    def current(self) -> Mapping[str, OpenCircuit]:
        with translated():
            found: dict[bytes, bytes] = self._client.hgetall(self._keys.outages)
        circuits = {name.decode(): record_codec.decode(_Circuit, raw) for name, raw in sorted(found.items())}
        # A circuit that has never opened ends with the first failure.
        return {name: _open(each.pause_ends or each.since, each) for name, each in circuits.items()}


def _pause(found: list[Any] | None) -> OpenCircuit | None:
    """Return the open circuit of a script's result: end, start, failure kind, failure count."""
    if not found:
        return None
    ends, since, failure, failures = found
    return _open(float(ends), _Circuit(float(since), Failure(failure.decode()), failures, pause_ends=float(ends)))


def _open(ends: float, circuit: _Circuit) -> OpenCircuit:
    until, since = (datetime.fromtimestamp(each, tz=UTC) for each in (ends, circuit.since))
    return OpenCircuit(until=until, since=since, failure=circuit.failure, failures=circuit.failures)


class RedisUsageCounters(_RedisStore):
    """`UsageCounters` on Redis."""

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
