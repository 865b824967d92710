"""More comes than can be handled: it waits in the stream, who works stays small, and who is stopped loses nothing."""

import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders.episodes import HOME, NOON, episode
from builders.meddled import meddled
from builders.memory import pss
from builders.model_fleet import ModelFleet, about_its_service
from builders.model_server import ENDLESS, ModelServer
from builders.waiting import wait_until
from chaos.drill.producer import ended

from nous.app.container import Container
from nous.app.services import eraser
from nous.bus.base import Committed
from nous.bus.erasure import Tombstone, session_name
from nous.cli.framework import INTERRUPTED
from nous.domain.effects import Effects, SaveEpisode
from nous.domain.summary_input import Segment, SummaryInput
from nous.jobs.base import QueueKind
from nous.runtime.maintenance import Resummarizer
from nous.services.erasure import EraseSession

WORKER = "episode-summarizer"
IN_FLIGHT = 2
AHEAD = 4
SESSIONS = 20
PATIENCE = 90.0
"""Seconds: processes begin, and a machine may be busy."""

Process = subprocess.Popen[bytes]


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """One that keeps every answer back."""
    with ModelServer(about_its_service) as server:
        server.hold(ENDLESS)
        yield server


@pytest.fixture
def fleet(directory: Path, model: ModelServer) -> Iterator[ModelFleet]:
    """What workers share; nobody works yet."""
    fleet = ModelFleet(directory, model, llm={"deadline": 60.0}, worker={"lease": 1.0})
    try:
        yield fleet
    finally:
        fleet.stop()


def test_a_backlog_makes_neither_the_queue_longer_nor_the_workers_larger(fleet: ModelFleet, model: ModelServer) -> None:
    publish(fleet, range(SESSIONS))
    with working(fleet, processes=2) as processes:
        wait_until(lambda: len(model.requests) == 2 * IN_FLIGHT, "all hands to be full", seconds=PATIENCE)
        before = [pss(each.pid) for each in processes]
        longest = 0
        for number in range(100, 200):
            publish(fleet, [number], more="x" * 300_000)
            longest = max(longest, waiting(fleet))
        wait_until(lambda: waiting(fleet) >= AHEAD, "the queue to be full")
        grown = [pss(each.pid) - then for each, then in zip(processes, before, strict=True)]

    assert max(longest, waiting(fleet)) <= 2 * AHEAD
    assert fleet.account(WORKER).in_flight <= 2 * (IN_FLIGHT + AHEAD)
    assert max(grown) < 10, "MB, of 30 that were published"


def test_who_is_told_to_stop_finishes_what_has_begun_and_begins_nothing_else(
    fleet: ModelFleet, model: ModelServer
) -> None:
    publish(fleet, range(SESSIONS))
    with working(fleet) as [process]:
        hands_are_full(fleet, model)
        publish(fleet, [100])
        threads = threads_of(process)
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: threads_of(process) <= threads - 2, "dispatcher and trimmer to end")
        model.hold(0)
        code = process.wait(PATIENCE)

    account = fleet.account(WORKER)
    assert (code, account.done, len(fleet.episodes)) == (0, IN_FLIGHT, IN_FLIGHT)
    with working(fleet):
        everything_is_done(fleet, SESSIONS + 1)
    assert sorted(model.by_prompt.values()) == [1] * (SESSIONS + 1)


def test_who_is_told_twice_ends_at_once_and_nothing_is_lost(fleet: ModelFleet, model: ModelServer) -> None:
    publish(fleet, range(SESSIONS))
    with working(fleet) as [process]:
        hands_are_full(fleet, model)

        def has_ended() -> bool:
            process.send_signal(signal.SIGTERM)
            return process.poll() is not None

        wait_until(has_ended, "the end, though no answer comes")

    assert process.returncode == INTERRUPTED
    assert fleet.episodes == []
    model.hold(0)
    with working(fleet):
        everything_is_done(fleet, SESSIONS)


def publish(fleet: ModelFleet, numbers: Iterable[int], *, more: str = "") -> None:
    events = [ended(f"session-{number}", number) for number in numbers]
    fleet.container.bus.publish(*(replace(event, transcript=f"{event.transcript} {more}") for event in events))


def waiting(fleet: ModelFleet) -> int:
    return fleet.container.jobs.backlog(WORKER, QueueKind.LIVE)


def hands_are_full(fleet: ModelFleet, model: ModelServer) -> None:
    wait_until(
        lambda: len(model.requests) == IN_FLIGHT and waiting(fleet) == AHEAD, "all hands to be full", seconds=PATIENCE
    )


def threads_of(process: Process) -> int:
    return len(list(Path(f"/proc/{process.pid}/task").iterdir()))


def everything_is_done(fleet: ModelFleet, sessions: int) -> None:
    wait_until(lambda: fleet.account(WORKER).done == sessions, "everything to be done", seconds=PATIENCE)

    assert len(fleet.episodes) == sessions
    assert fleet.accounts == (0, 0)


@contextmanager
def working(fleet: ModelFleet, *, processes: int = 1) -> Generator[list[Process]]:
    """So many `nous worker`, killed in the end if they have not ended by then."""
    environment = fleet.environment | {
        "NOUS_WORKER__CONCURRENCY": str(IN_FLIGHT),
        "NOUS_WORKER__QUEUE_AHEAD": str(AHEAD),
    }
    command = [sys.executable, "-m", "nous", "worker", WORKER]
    with ExitStack() as stack:
        started = [
            subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for _ in range(processes)
        ]
        for each in started:
            stack.callback(each.wait)
            stack.callback(each.kill)
        yield started


BRIEF = SummaryInput(windows=((Segment("[User] Which port?", "User", 1),),), decisions=())
EPISODE = episode("there")


@pytest.fixture
def offer(container: Container) -> Callable[..., int]:
    """Offers what is extractive, while something *befalls*; there is one episode."""
    saved = SaveEpisode(episode=EPISODE, summary_input=BRIEF)
    assert isinstance(container.bus.apply(Effects(writes=(saved,))), Committed)

    def offer(befalls: Callable[[Effects], object] = lambda _: None) -> int:
        bus, reviser = meddled(container.bus, befalls), container.subscription("episode-reviser")
        told: dict[str, Any] = {
            "context": container.context,
            "bus": bus,
            "delivery_stats": container.delivery_stats,
            "by": "m 1",
        }
        return Resummarizer(reviser, **told, ahead=4, interval=1).offer()

    return offer


def offered(container: Container) -> int:
    """How many offers were ever made."""
    return sum(each.length for each in container.delivery_stats.backlogs(container.subscription("episode-reviser")))


def be_forgetting(container: Container) -> None:
    container.tombstones.put(HOME, [session_name(HOME, "there")], Tombstone(at=NOON))


def test_an_episode_that_is_being_forgotten_is_not_offered_and_not_looked_at_again(
    container: Container, offer: Callable[..., int]
) -> None:
    be_forgetting(container)

    assert offer() == 0

    assert (list(container.context.episodes.unrefined()), offered(container)) == ([], 0)
    assert container.context.episodes.get(HOME, EPISODE.id) == EPISODE


def test_an_episode_that_is_forgotten_while_it_is_offered_leaves_no_trace(
    container: Container, offer: Callable[..., int]
) -> None:
    def forget(_: Effects) -> None:
        if container.context.episodes.get(HOME, EPISODE.id):
            eraser(container).erase(EraseSession(scope=HOME, name="there"))

    assert offer(forget) == 0

    assert (list(container.context.episodes.unrefined()), offered(container)) == ([], 0)
