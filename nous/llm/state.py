"""What is written down of a model's calls: answers, tokens, pauses and counts. Each is one small seam.

All of them are shared by every process, so that none asks what another has asked, spends what another has spent, or
calls a provider that another has found dead.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Protocol
from uuid import UUID

from nous.domain.scope import Scope
from nous.llm.base import Failure, Question, Reply

_OFTEN = 3
"""Times that a question should have been answered, and was not, until it is to blame."""


@dataclass(frozen=True, slots=True)
class Calls:
    """How many calls of a model were answered by now, and how many failed, whoever made them."""

    answered: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """A question that has failed *failures* times, *chances* of them after others were answered since the time before.

    `first` and `last` are the calls that were over before its first and its last failure.
    """

    first: Calls
    last: Calls
    failures: int = 1
    chances: int = 0

    @property
    def is_to_blame(self) -> bool:
        """Had it been as likely to be answered as the others, it would have been, *_OFTEN* times.

        A provider that is overloaded answers some as well, but turns down more of the others than it answers.
        """
        answered = self.last.answered - self.first.answered
        others_failed = max(self.last.failed - self.first.failed - (self.failures - 1), 0)
        return answered > 0 and self.chances * answered >= _OFTEN * (answered + others_failed)


def failed_again(known: Failing | None, calls: Calls) -> Failing:
    """What is known of a question after it has failed, where *calls* were over before."""
    if known is None:
        return Failing(first=calls, last=calls)
    chances = known.chances + (calls.answered > known.last.answered)
    return replace(known, last=calls, failures=known.failures + 1, chances=chances)


class Pins(Protocol):
    """Answers by question and model, kept from before they are used until their time is over.

    What was read before a drop is not kept after it, however late it is asked about and answered.
    """

    def drops(self, scope: Scope, subject: UUID) -> int:
        """How often answers about *subject* were dropped: look before you read what you ask about (see `Matter`)."""
        ...

    def find(self, question: Question, model: str) -> Reply | None: ...

    def pin(self, question: Question, model: str, reply: Reply) -> Reply:
        """Keep *reply*, unless there is one already; returns that one, or *reply*.

        It is not kept if there were more drops by now than its matter knows of.
        """
        ...

    def drop(self, scope: Scope, subject: UUID | None = None) -> int:
        """Forget the answers about *subject*, or all of *scope*; returns how many."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Tokens of a scope's day that were set aside for one call, which *id* names."""

    id: str
    scope: Scope
    day: date
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What a scope has used of a day's tokens, and what is set aside for calls in flight.

    A call whose process died leaves its tokens set aside: nobody knows what it has cost.
    """

    scope: Scope
    day: date
    spent: int
    reserved: int


class Allowance(Protocol):
    """Tokens by scope and day (UTC)."""

    def reserve(self, reservation: Reservation, *, limit: int) -> bool:
        """Set the tokens aside if the day has room for them below *limit*; saying so twice reserves once.

        A day on which nothing was used yet has room for one call, however large: or it would never be made.
        """
        ...

    def settle(self, reservation: Reservation, *, spent: int) -> None:
        """Book what the call has cost in place of what was set aside; saying so twice books once."""
        ...

    def spending(self, day: date) -> tuple[Spending, ...]:
        """What every scope has used on *day*, by scope."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A provider that is left alone until a given time; it has not answered since *since*, *failures* times by now."""

    until: datetime
    since: datetime
    failure: Failure
    failures: int


class Outages(Protocol):
    """Which providers are left alone, and until when; and which questions failed, since they may be to blame."""

    def enter(self, provider: str, *, probe: float) -> Pause | None:
        """None if *provider* may be called now.

        After a pause one call goes first, to see: for *probe* seconds, or until it has come to something, the others
        are told to wait a moment and to look again.
        """
        ...

    def failed(self, provider: str, failure: Failure, *, until: datetime | None = None) -> Pause | None:
        """Note a failure, and how long to leave *provider* alone: until the time it has given, or longer each time.

        Failures of calls that began before the pause did not make it longer. A first and a second timeout make no pause
        yet, since the question may be to blame: then there is None.
        """
        ...

    def passed(self, provider: str) -> None:
        """Note that *provider* has answered: whatever pause there was is over."""
        ...

    def put_back(self, provider: str) -> None:
        """Note that a call came to something that tells nothing of *provider*: if it went first, another may now."""
        ...

    def failing(self, provider: str, question: str) -> Failing | None:
        """What is known of the failures of the question of that digest."""
        ...

    def note_failing(self, provider: str, question: str, failing: Failing) -> None:
        """Write it down for whoever asks the question next; it is forgotten after a week."""
        ...

    def current(self) -> Mapping[str, Pause]:
        """The providers that have not answered since they failed."""
        ...


class Tally(Protocol):
    """Counters of what came of calls, which only ever grow."""

    def count(self, model: str, **counts: int) -> None:
        """Add *counts*, by name, to those of *model*."""
        ...

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """The counters by model and name."""
        ...
