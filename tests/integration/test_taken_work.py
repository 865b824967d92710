"""Worker processes whose work somebody else takes out of their hands: they notice, say so, and lose nothing."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nous.app.container import Container, build
from nous.bus.accounting import GroupCounters
from nous.bus.base import Subscription
from nous.bus.delivery_state import AttemptOutcome
from nous.domain.events import Event, SessionEnded
from nous.pipeline.worker import Worker, WorkerContext
from nous.settings.model import Settings

PROGRAM = Path(__file__).with_name("toy_fleet.py")
TOY = Subscription("toy", SessionEnded)
STREAM = "nous:events:session_ended"


class Process:
    """A process of the toy fleet, and what it has logged."""

    def __init__(self, directory: Path) -> None:
        self._said = directory / "said"
        with self._said.open("ab") as said:
            command = [sys.executable, str(PROGRAM), str(directory), "fleet"]
            self.running = subprocess.Popen(command, stderr=said, start_new_session=True)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.running.pid, signal.SIGKILL)
        self.running.wait()

    def said(self, words: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self._said.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == words]


@pytest.fixture
def container(directory: Path) -> Container:
    return build(Settings(data_dir=directory, embedder="hashed"), also=[Worker("toy", SessionEnded, _never)])


@pytest.fixture
def process(container: Container, directory: Path) -> Iterator[Process]:
    assert container
    process = Process(directory)
    try:
        yield process
    finally:
        process.kill()


def test_what_is_acknowledged_under_a_process_that_dies_is_a_letter_and_is_done_when_redriven(
    container: Container, process: Process, directory: Path, ended: Any, wait_until: Any
) -> None:
    client: Any = container.client
    [receipt] = container.bus.publish(ended("endless"))
    wait_until(lambda: _is_running(container), "the handler to begin")

    client.xack(STREAM, "toy", receipt.entry)
    process.kill()
    replacement = Process(directory)
    try:
        wait_until(container.dead_letters.letters, "a letter", seconds=60)
        account = container.delivery_stats.counters(TOY)
        [letter] = container.dead_letters.letters()
        (directory / "enough").touch()
        container.dead_letters.redrive(letter, TOY)
        wait_until(lambda: container.delivery_stats.counters(TOY).done == 1, "it to be done", seconds=60)
    finally:
        replacement.kill()

    assert account == GroupCounters(received=1, dead=1)
    assert (letter.session_id, letter.attempts) == ("endless", 1)
    assert container.delivery_stats.counters(TOY) == GroupCounters(received=1, done=1)
    assert process.said("delivery.dead_lettered")


def test_a_process_tells_by_itself_of_an_account_that_does_not_add_up(
    container: Container, process: Process, ended: Any, wait_until: Any
) -> None:
    client: Any = container.client
    container.bus.publish(ended("plain"))
    wait_until(lambda: container.delivery_stats.counters(TOY).done == 1, "the work to be done")

    client.hincrby("nous:account:toy", "received", 2)

    wait_until(lambda: process.said("delivery_stats.discrepancy"), "an alarm", seconds=60)
    [told] = process.said("delivery_stats.discrepancy")
    assert (told["group"], told["difference"], told["level"]) == ("toy", 2, "error")
    assert told["why"].startswith("2 were received and are nowhere")


def test_a_letter_tells_the_crashes_from_the_deaths_of_real_processes(
    container: Container, process: Process, directory: Path, ended: Any, wait_until: Any
) -> None:
    container.bus.publish(ended("poison"))
    running = [process]

    def is_buried() -> bool:
        if running[-1].running.poll() is not None:
            running.append(Process(directory))
        return bool(container.dead_letters.letters())

    try:
        wait_until(is_buried, "the event to be buried", seconds=90)
    finally:
        running[-1].kill()

    [letter] = container.dead_letters.letters()
    fates = [each.fate for each in letter.history if each.fate is not AttemptOutcome.LOST]
    assert fates == [AttemptOutcome.CRASHED, AttemptOutcome.CRASHED, AttemptOutcome.KILLED, AttemptOutcome.KILLED]


def _is_running(container: Container) -> bool:
    client: Any = container.client
    return any(b"running" in value for value in client.hvals("nous:progress:toy"))


def _never(_: WorkerContext) -> Any:
    def handle(_: Event) -> Any:
        raise AssertionError("the toy runs in its own process")

    return handle
