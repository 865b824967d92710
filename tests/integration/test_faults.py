"""A toy fleet in processes of its own, and what becomes of its work when it dies."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from nous.app.container import Container, build
from nous.app.worker_process import pool
from nous.bus.accounting import GroupCounters
from nous.bus.base import Priority, Subscription
from nous.bus.delivery_state import AttemptOutcome
from nous.domain.events import SessionEnded
from nous.jobs.base import JobSpec, QueueKind
from nous.pipeline.worker import Worker
from nous.settings.model import Settings

PROGRAM = Path(__file__).with_name("toy_fleet.py")
TOY = Subscription("toy", SessionEnded)


@dataclass
class Fleet:
    """Processes of the toy fleet on one data directory."""

    directory: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(PROGRAM), str(self.directory), "fleet"]
        process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        self.running.append(process)
        return process

    def keep_one_running(self) -> None:
        if self.running[-1].poll() is not None:
            self.start()

    def stop(self) -> None:
        for process in self.running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def container(directory: Path) -> Container:
    return build(Settings(data_dir=directory, embedder="hashed"), also=[Worker("toy", SessionEnded, _never)])


@pytest.fixture
def fleet(directory: Path) -> Iterator[Fleet]:
    fleet = Fleet(directory)
    try:
        yield fleet
    finally:
        fleet.stop()


def test_an_event_that_kills_its_process_is_buried_and_its_neighbours_live(
    container: Container, fleet: Fleet, ended: Any, wait_until: Any
) -> None:
    neighbours = [ended(f"neighbour-{number}") for number in range(6)]
    container.bus.publish(neighbours[0], ended("poison"), *neighbours[1:])
    fleet.start()

    def has_settled() -> bool:
        fleet.keep_one_running()
        account = container.delivery_stats.counters(TOY)
        return account.received == 7 and account.in_flight == 0

    wait_until(has_settled, "every event to be done or buried", seconds=60)

    assert container.delivery_stats.counters(TOY) == GroupCounters(received=7, done=6, dead=1)
    [letter] = container.dead_letters.letters()
    assert letter.session_id == "poison"
    assert "alone" in letter.reason
    fates = [each.fate for each in letter.history if each.fate is not AttemptOutcome.LOST]
    assert fates == [AttemptOutcome.CRASHED, AttemptOutcome.CRASHED, AttemptOutcome.KILLED, AttemptOutcome.KILLED]


@pytest.mark.parametrize(("session", "deaths"), [("poison", 1), ("asked", 0)])
def test_a_process_that_was_asked_to_end_in_quarantine_is_not_held_against_its_event(
    container: Container, directory: Path, ended: Any, session: str, deaths: int
) -> None:
    container.bus.publish(ended(session))
    [delivery] = container.bus.receive(TOY, priority=Priority.LIVE, limit=1, lease=600)
    order = JobSpec(
        ref=delivery.ref,
        event_id=delivery.event.id,
        session_id=session,
        attempt=delivery.state.attempt,
        line=QueueKind.QUARANTINE,
    )
    container.jobs.submit(order)

    subprocess.run([sys.executable, str(PROGRAM), str(directory), "quarantine"], check=True, stderr=subprocess.DEVNULL)

    found = container.bus.open(delivery.ref)
    assert found
    assert found.state.deaths == deaths


def test_a_pool_leaves_alone_what_waits_in_quarantine(container: Container) -> None:
    taken = {queue.name for queue in pool(container, "toy").queues}

    assert taken == {QueueKind.LIVE.queue("toy"), QueueKind.BULK.queue("toy")}


def test_events_whose_handlers_hang_are_buried_and_their_neighbours_live(
    container: Container, fleet: Fleet, directory: Path, ended: Any, wait_until: Any
) -> None:
    (directory / "deadline").write_text("0.4")
    hung = [ended(f"hung-{number}") for number in range(3)]  # one more than run at a time
    neighbours = [ended(f"neighbour-{number}") for number in range(4)]
    container.bus.publish(*hung, *neighbours)
    process = fleet.start()

    def settled() -> bool:
        account = container.delivery_stats.counters(TOY)
        return account.received == 7 and account.in_flight == 0

    wait_until(lambda: container.delivery_stats.counters(TOY).done == 4, "the neighbours to be done", seconds=60)
    wait_until(settled, "what hangs to be buried", seconds=120)
    process.terminate()

    assert container.delivery_stats.counters(TOY) == GroupCounters(received=7, done=4, dead=3)
    assert {letter.session_id for letter in container.dead_letters.letters()} == {event.session_id for event in hung}
    assert process.wait(timeout=30) == 0


def _never(_: Any) -> Callable[[Any], Any]:
    raise AssertionError("the test itself runs no handler")
