"""One toy worker and what runs it, on a fake server; and a machine on which nothing is set."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from builders.contexts import context_over
from builders.jobs import FakeJobs
from builders.stores import WholeStore

from nous.bus.accounting import GroupCounters
from nous.bus.base import Subscription
from nous.bus.delivery_state import RetryPolicy
from nous.domain.effects import Effects
from nous.domain.errors import BadInput
from nous.domain.events import Event, SessionEnded
from nous.jobs.base import QueueKind
from nous.pipeline.worker import Worker
from nous.runtime.attempt import Attempts, LeaseKeeper
from nous.runtime.worker_process import Dispatcher

LEASE = 60.0
TOY = Subscription("toy", SessionEnded)


class NoTranscripts:
    def read(self, event: SessionEnded) -> Any:
        raise BadInput(f"no transcript of {event.session_id} here")


@dataclass
class Toy:
    """A worker that does as it is told, and remembers what it was asked."""

    behave: Callable[[Event], Effects] = lambda _: Effects()
    seen: list[str] = field(default_factory=list[str])

    def fails(self, error: BaseException, *, only: str = "") -> None:
        """From now on, it fails with *error*, or does so for the session *only*."""

        def behave(event: Event) -> Effects:
            if only in {"", event.session_id}:
                raise error
            return Effects()

        self.behave = behave

    def succeeds(self, effects: Effects | None = None) -> None:
        self.behave = lambda _: effects or Effects()

    def handle(self, event: Event) -> Effects:
        self.seen.append(event.session_id)
        return self.behave(event)


class RuntimeWorld:
    """One toy worker and what runs it."""

    def __init__(self, clock: Any, bus: Any = None) -> None:
        self.clock = clock
        self.store = WholeStore(clock=clock)
        self.bus: Any = bus or self.store.bus
        self.jobs = FakeJobs()
        self.toy = Toy()
        retry_policy = RetryPolicy(lease=LEASE, max_attempts=3, backoff_base=1, backoff_cap=10)
        self.context = context_over(self.store, transcripts=NoTranscripts(), clock=clock.date)
        worker = Worker("toy", SessionEnded, lambda _: self.toy.handle)
        leases = LeaseKeeper(self.bus, lease=LEASE, deadline=600)
        self.attempts = Attempts(
            {"toy": worker}, bus=self.bus, context=self.context, retry_policy=retry_policy, leases=leases
        )
        self.dispatcher = Dispatcher(TOY, bus=self.bus, jobs=self.jobs, retry_policy=retry_policy, ahead=4)

    def offer(self, *events: Event) -> None:
        """Publish *events*, and queue a job for each that there is room for."""
        self.bus.publish(*events)
        self.dispatcher.dispatch()

    def run(self, line: QueueKind = QueueKind.LIVE) -> list[str]:
        return self.jobs.run(self.attempts, "toy", line)

    def die(self, line: QueueKind = QueueKind.LIVE) -> None:
        """Run the first job of a queue, whose handler kills its process."""
        self.toy.fails(KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            self.run(line)

    def again(self, seconds: float = LEASE + 1) -> int:
        """Sweep *seconds* later; return how many were resubmitted."""
        self.later(seconds)
        return self.dispatcher.sweep()

    def later(self, seconds: float = LEASE + 1) -> None:
        self.clock.now += seconds

    @property
    def account(self) -> GroupCounters:
        return self.bus.counters(TOY)


@pytest.fixture
def runtime(clock: Any) -> RuntimeWorld:
    """Dispatcher and attempts together, on a fake server, with a queue in memory."""
    return RuntimeWorld(clock)


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable, no file and no home of whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith(("NOUS_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
