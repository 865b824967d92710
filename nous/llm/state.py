"""Redis stores that LLM calls share: reply cache, token budgets, circuits, call counters.

All processes share them. So no process repeats a call that another has made, exceeds a budget that others have used, or
calls a provider that another has found down. `keys.md` has the keys, with their types, lives and content.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import UUID, uuid4

import redis

from nous.domain import record_codec
from nous.domain.errors import Misconfigured
from nous.domain.scope import Scope
from nous.llm.base import Failure, Question, Reply
from nous.redis_support.errors import translated
from nous.redis_support.scripts import Scripts

_DAY = 24 * 3600
_DROPS = 7 * _DAY  # seconds that invalidations are counted after the last one: far longer than any question takes
_ALL = "all"  # field of an invalidation of all subjects


@dataclass(frozen=True, slots=True)
class LlmKeys:
    prefix: str = "nous"

    def answer(self, question: Question, model: str) -> str:
        asked = sha256(f"{question.digest} {model}".encode()).hexdigest()
        return f"{self.prefix}:answer:{quote(str(question.matter.scope), safe='/')}:{question.matter.subject}:{asked}"

    def answers(self, scope: Scope, subject: UUID | None = None) -> str:
        """Return the SCAN pattern of all responses about *subject*, or of all of *scope*."""
        about = "*" if subject is None else f"{subject}:*"
        return f"{self.prefix}:answer:{quote(str(scope), safe='/')}:{about}"

    def invalidation_count(self, scope: Scope) -> str:
        """Return a name that does not reveal the scope, which may just have been erased."""
        return f"{self.prefix}:dropped:{sha256(str(scope).encode()).hexdigest()}"

    def tokens(self, day: date) -> str:
        return f"{self.prefix}:tokens:{day.isoformat()}"

    def token_calls(self, day: date) -> str:
        return f"{self.prefix}:token-calls:{day.isoformat()}"

    @property
    def outages(self) -> str:
        return f"{self.prefix}:outages"

    def failing(self, provider: str, question: str) -> str:
        return f"{self.prefix}:failing:{sha256(f'{question} {provider}'.encode()).hexdigest()}"

    @property
    def calls(self) -> str:
        return f"{self.prefix}:calls"

    def said(self, name: str) -> str:
        return f"{self.prefix}:said:{name}"


class _RedisStore:
    """A store on a *client* that must not decode; *clock* replaces the server's time in tests."""

    def __init__(self, client: redis.Redis, keys: LlmKeys, *, clock: Callable[[], float] | None = None) -> None:
        self._client: Any = client
        self._keys = keys
        self._run = Scripts(client, clock, package="nous.llm")


class ResponseStore(_RedisStore):
    """Response cache by question and model; responses expire after *answer_ttl* seconds.

    One that is based on data read before an invalidation is not kept after it, however late it arrives.
    """

    def __init__(self, client: redis.Redis, keys: LlmKeys, *, answer_ttl: int) -> None:
        super().__init__(client, keys)
        self._answer_ttl = answer_ttl

    def invalidation_count(self, scope: Scope, subject: UUID) -> int:
        """Return how often responses about *subject* were invalidated; read it before its data."""
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
        """Save *reply* unless one is stored or it was invalidated; return the stored or given one."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Tokens of a scope's daily budget that are reserved for one call, which *id* names."""

    id: str
    scope: Scope
    day: date
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens of a scope on one day; those of a call whose process died stay reserved."""

    scope: Scope
    day: date
    spent: int
    reserved: int


_LIVES = (8 * _DAY, _DAY)
"""TTLs in seconds: usage is shown for a week; a reservation is needed for the time of a call."""


class TokenUsageStore(_RedisStore):
    def reserve(self, reservation: Reservation, *, limit: int) -> bool:
        """Reserve tokens if the day's usage leaves room below *limit*. Idempotent.

        A day without usage has room for one call of any size; otherwise a large call would never be made.
        """
        return bool(self._book("reserve", reservation, reservation.tokens, limit))

    def settle(self, reservation: Reservation, *, spent: int) -> None:
        """Replace the reservation by the call's actual usage. Idempotent."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCircuit:
    """A provider whose circuit is open until a given time; it has not answered since *since*."""

    until: datetime
    since: datetime
    failure: Failure
    failures: int


GLANCE = 2.0
"""Seconds until a caller that waits for a probe checks again; most probes end long before their deadline."""

_LONGEST = 24 * 3600.0  # limit, in seconds, of an interval that the provider asks for itself


class _Backoff(NamedTuple):
    """Intervals that double from `first` to `cap` seconds; the failure `begins` opens the first."""

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


class CircuitStore(_RedisStore):
    """Circuits by provider, for two days; failures of questions, for a week."""

    def admit(self, provider: str, *, probe: float) -> OpenCircuit | None:
        """Return None if *provider* may be called now, otherwise its open circuit.

        After an open interval one call goes first as the probe. For *probe* seconds, or until the probe has a result,
        the others have to check again in a moment.
        """
        return _pause(self._run("admit", (self._keys.outages,), (provider, uuid4().hex, repr(probe), repr(GLANCE))))

    def record_failure(self, provider: str, failure: Failure, *, until: datetime | None = None) -> OpenCircuit | None:
        """Record a failure; return the open circuit, if any.

        The circuit opens until the time that the provider has given, or for longer each time. Failures of calls that
        began before it opened do not extend it. It opens at the third timeout: the question may be the cause.
        """
        keys = (self._keys.outages, self._keys.said(uuid4().hex))
        given = repr(until.timestamp()) if until else ""
        backoff = _BACKOFF.get(failure, _Backoff())
        policy = (repr(_LONGEST), repr(backoff.first), repr(backoff.cap), backoff.begins)
        return _pause(self._run("record_failure", keys, (provider, failure.value, given, *policy)))

    def record_success(self, provider: str) -> None:
        with translated():
            self._client.hdel(self._keys.outages, provider)

    def release_probe(self, provider: str) -> None:
        """Record a result that says nothing about *provider*; if it was the probe, allow another."""
        self._run("release_probe", (self._keys.outages,), (provider,))

    def count_failure(self, provider: str, question: str) -> int:
        """Count another failure of the question with that digest; return how many there were."""
        key = self._keys.failing(provider, question)
        with translated():
            count, _ = self._client.pipeline().incr(key).expire(key, 7 * _DAY).execute()
        return count

    def current(self) -> Mapping[str, OpenCircuit]:
        """Return the providers that have not answered since they failed."""
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


class UsageCounters(_RedisStore):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmStores:
    responses: ResponseStore
    token_usage: TokenUsageStore
    circuits: CircuitStore
    counters: UsageCounters
