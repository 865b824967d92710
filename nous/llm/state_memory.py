"""In-memory stores of model-call state: for tests, and for one process without Redis.

They make the same promises as those in Redis, but token usage and failure records do not expire. *clock* returns
seconds since the epoch.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from threading import Lock
from uuid import UUID

from nous.domain import record_codec
from nous.domain.scope import Scope
from nous.llm.base import Failure, Question, Reply
from nous.llm.circuit_state import BackoffPolicy, CircuitState, admit, failed
from nous.llm.redis.keys import LlmKeys
from nous.llm.state import OpenCircuit, Reservation, SuspectQuestion, TokenUsage


class MemoryResponseStore:
    """`ResponseStore` whose responses expire *answer_ttl* seconds after they were saved."""

    def __init__(self, *, answer_ttl: float, clock: Callable[[], float] = time.time) -> None:
        self._answer_ttl = answer_ttl
        self._clock = clock
        self._keys = LlmKeys()
        self._lock = Lock()
        self._kept: dict[str, tuple[float, bytes]] = {}
        self._drops = Counter[tuple[Scope, UUID | None]]()

    def invalidation_count(self, scope: Scope, subject: UUID) -> int:
        return self._drops[scope, subject] + self._drops[scope, None]

    def find(self, question: Question, model: str) -> Reply | None:
        with self._lock:
            return self._find(self._keys.answer(question, model))

    def save(self, question: Question, model: str, reply: Reply) -> Reply:
        matter = question.matter
        key, raw = self._keys.answer(question, model), record_codec.encode(reply)
        with self._lock:
            if known := self._find(key):
                return known
            if self.invalidation_count(matter.scope, matter.subject) == matter.invalidation_count:
                self._kept[key] = (self._clock() + self._answer_ttl, raw)
            return reply

    def invalidate(self, scope: Scope, subject: UUID | None = None) -> int:
        begins = self._keys.answers(scope, subject).removesuffix("*")
        with self._lock:
            self._drops[scope, subject] += 1
            dropped = [key for key in self._kept if key.startswith(begins)]
            for key in dropped:
                del self._kept[key]
            return len(dropped)

    def _find(self, key: str) -> Reply | None:
        ends, raw = self._kept.get(key, (0.0, b""))
        return record_codec.decode(Reply, raw) if self._clock() < ends else None


@dataclass(slots=True)
class _Day:
    """Tokens of one day by scope, and the reservation of each call, None once it is settled."""

    spent: Counter[Scope] = field(default_factory=Counter[Scope])
    reserved: Counter[Scope] = field(default_factory=Counter[Scope])
    held: dict[tuple[Scope, str], int | None] = field(default_factory=dict[tuple[Scope, str], int | None])


class MemoryTokenUsageStore:
    """`TokenUsageStore` of one process. It needs no clock: callers pass the day."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._days: dict[date, _Day] = defaultdict(_Day)

    def reserve(self, reservation: Reservation, *, limit: int) -> bool:
        scope, call = reservation.scope, (reservation.scope, reservation.id)
        with self._lock:
            day = self._days[reservation.day]
            used = day.spent[scope] + day.reserved[scope]
            if call in day.held:
                return True
            if used > 0 and used + reservation.tokens > limit:
                return False
            day.held[call] = reservation.tokens
            day.reserved[scope] += reservation.tokens
            return True

    def settle(self, reservation: Reservation, *, spent: int) -> None:
        scope, call = reservation.scope, (reservation.scope, reservation.id)
        with self._lock:
            day = self._days[reservation.day]
            held = day.held.get(call, 0)
            if held is None:
                return
            day.held[call] = None
            day.reserved[scope] -= held
            day.spent[scope] += spent

    def usage(self, day: date) -> tuple[TokenUsage, ...]:
        with self._lock:
            known = self._days[day]
            scopes = sorted({scope for scope, _ in known.held})
            return tuple(
                TokenUsage(scope=scope, day=day, spent=known.spent[scope], reserved=known.reserved[scope])
                for scope in scopes
            )


class MemoryCircuitStore:
    """`CircuitStore` of one process."""

    def __init__(self, pauses: BackoffPolicy | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self._pauses = pauses or BackoffPolicy()
        self._clock = clock
        self._lock = Lock()
        self._outages: dict[str, CircuitState] = {}
        self._failing: dict[tuple[str, str], SuspectQuestion] = {}

    def admit(self, provider: str, *, probe: float) -> OpenCircuit | None:
        with self._lock:
            outage, pause = admit(self._outages.get(provider), probe=probe, now=self._clock())
            if outage:
                self._outages[provider] = outage
            return pause

    def record_failure(self, provider: str, failure: Failure, *, until: datetime | None = None) -> OpenCircuit | None:
        with self._lock:
            self._outages[provider], pause = failed(
                self._outages.get(provider),
                failure,
                until=until.timestamp() if until else None,
                now=self._clock(),
                pauses=self._pauses,
            )
            return pause

    def record_success(self, provider: str) -> None:
        with self._lock:
            self._outages.pop(provider, None)

    def release_probe(self, provider: str) -> None:
        with self._lock:
            if outage := self._outages.get(provider):
                self._outages[provider] = replace(outage, probe_ends=0.0)

    def failing(self, provider: str, question: str) -> SuspectQuestion | None:
        return self._failing.get((provider, question))

    def note_failing(self, provider: str, question: str, failing: SuspectQuestion) -> None:
        self._failing[provider, question] = failing

    def current(self) -> Mapping[str, OpenCircuit]:
        with self._lock:
            return {provider: outage.pause() for provider, outage in sorted(self._outages.items())}


class MemoryUsageCounters:
    """`UsageCounters` of one process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)

    def count(self, model: str, **counts: int) -> None:
        with self._lock:
            for name, added in counts.items():
                self._counts[model][name] += added

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        with self._lock:
            return {model: dict(sorted(counts.items())) for model, counts in sorted(self._counts.items())}
