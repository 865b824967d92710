"""Stores of shared model-call state: responses, token usage, circuits and usage counters.

Every process shares them. So no process repeats a call that another has made, exceeds a budget that others have used,
or calls a provider that another has found down.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Protocol
from uuid import UUID

from nous.domain.scope import Scope
from nous.llm.base import Failure, Question, Reply

_OFTEN = 3
"""Times that a question should have been answered, and was not, until it counts as poison."""


@dataclass(frozen=True, slots=True)
class CallCounts:
    """Answered and failed calls of a model so far, in all processes."""

    answered: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspectQuestion:
    """A question that has failed *failures* times, and the call counts around its failures.

    *chances* counts the failures before which other questions had been answered since the previous one. `first` and
    `last` are the call counts before its first and its last failure.
    """

    first: CallCounts
    last: CallCounts
    failures: int = 1
    chances: int = 0

    @property
    def is_poison(self) -> bool:
        """Return whether the question, not the provider, causes its failures.

        At the success rate of the other questions, it would have been answered *_OFTEN* times by now. A provider that
        is overloaded answers some questions as well, but it rejects more of the others than it answers.
        """
        answered = self.last.answered - self.first.answered
        others_failed = max(self.last.failed - self.first.failed - (self.failures - 1), 0)
        return answered > 0 and self.chances * answered >= _OFTEN * (answered + others_failed)


def failed_again(known: SuspectQuestion | None, calls: CallCounts) -> SuspectQuestion:
    """Return the record of a question after another failure; *calls* are the counts before it."""
    if known is None:
        return SuspectQuestion(first=calls, last=calls)
    chances = known.chances + (calls.answered > known.last.answered)
    return replace(known, last=calls, failures=known.failures + 1, chances=chances)


class ResponseStore(Protocol):
    """Response cache by question and model, written before responses are used, with a TTL.

    A response that is based on data read before an invalidation is not kept after it, however late it arrives.
    """

    def invalidation_count(self, scope: Scope, subject: UUID) -> int:
        """Return how often responses about *subject* were invalidated.

        Read it before you read the data that you ask about (see `CacheSubject`).
        """
        ...

    def find(self, question: Question, model: str) -> Reply | None: ...

    def save(self, question: Question, model: str, reply: Reply) -> Reply:
        """Save *reply* unless there is one already; return the stored one, or *reply*.

        It is not saved if there were more invalidations by now than its cache subject knows of.
        """
        ...

    def invalidate(self, scope: Scope, subject: UUID | None = None) -> int:
        """Delete the responses about *subject*, or all of *scope*; return how many."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Tokens of a scope's daily budget that are reserved for one call, which *id* names."""

    id: str
    scope: Scope
    day: date
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Spent and reserved tokens of a scope on one day.

    The reservation of a call whose process died remains: its actual usage is unknown.
    """

    scope: Scope
    day: date
    spent: int
    reserved: int


class TokenUsageStore(Protocol):
    """Token usage by scope and day (UTC)."""

    def reserve(self, reservation: Reservation, *, limit: int) -> bool:
        """Reserve tokens if the day's usage leaves room below *limit*. Idempotent.

        A day without usage has room for one call of any size; otherwise a large call would never be made.
        """
        ...

    def settle(self, reservation: Reservation, *, spent: int) -> None:
        """Replace the reservation by the call's actual usage. Idempotent."""
        ...

    def usage(self, day: date) -> tuple[TokenUsage, ...]:
        """Return the usage of every scope on *day*, by scope."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCircuit:
    """A provider whose circuit is open until a given time.

    It has not answered since *since*, and has failed *failures* times by now.
    """

    until: datetime
    since: datetime
    failure: Failure
    failures: int


class CircuitStore(Protocol):
    """Shared circuit-breaker state by provider, and failure records of suspect questions."""

    def admit(self, provider: str, *, probe: float) -> OpenCircuit | None:
        """Return None if *provider* may be called now, otherwise its open circuit.

        After an open interval one call goes first as the probe. For *probe* seconds, or until the probe has a result,
        the others have to check again in a moment.
        """
        ...

    def record_failure(self, provider: str, failure: Failure, *, until: datetime | None = None) -> OpenCircuit | None:
        """Record a failure; return the open circuit, if any.

        The circuit opens until the time that the provider has given, or for longer each time. Failures of calls that
        began before it opened do not extend it. A first and a second timeout do not open it yet, since the question may
        be the cause; then the result is None.
        """
        ...

    def record_success(self, provider: str) -> None:
        """Record that *provider* has answered, and close its circuit."""
        ...

    def release_probe(self, provider: str) -> None:
        """Record a result that says nothing about *provider*; if it was the probe, allow another."""
        ...

    def suspect(self, provider: str, question: str, calls: CallCounts) -> SuspectQuestion:
        """Record another failure of the question with that digest, and return its record.

        *calls* are the counts before the failure. The record expires after a week.
        """
        ...

    def current(self) -> Mapping[str, OpenCircuit]:
        """Return the providers that have not answered since they failed."""
        ...


class UsageCounters(Protocol):
    """Monotonic counters of call results."""

    def count(self, model: str, **counts: int) -> None:
        """Add *counts*, by name, to those of *model*."""
        ...

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """Return the counters by model and name."""
        ...
