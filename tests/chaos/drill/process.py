"""A program for tests: worker processes of the product, made in a moment.

It has imported all there is and forks a process for each line it reads, `{"mode", "environment", "log"}` in JSON, and
writes its pid. When its input ends, it kills what it has forked, and ends. The modes:

    pool         what `nous worker` runs: dispatchers, sweepers and pools
    desks        dispatchers and sweepers alone
    forks        RQ's own worker, which forks for every job
    quarantine   what `nous worker --quarantine` runs; started by the others, as a program of its own

Each handler's run is noted in CHAOS_RUNS before it begins, in a line. A session whose id begins with "poison" kills the
process that handles it. CHAOS_THINK is how long a handler thinks, at most, in seconds; CHAOS_CLOCK a file whose content
is added to the time; CHAOS_DEATHS a folder for the deaths of processes around answers of a model, each of which happens
once.
"""

import ctypes
import gc
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from chaos.drill.crew import WORKERS
from chaos.drill.producer import ended
from rq.serializers import JSONSerializer
from rq.worker import Worker as RqWorker
from typing_extensions import override  # typing has it from Python 3.12 on

from nous import log
from nous.app.container import Container, build, discover
from nous.app.worker_process import dispatch_loop, worker_process
from nous.bus.base import Delivery, Verdict
from nous.bus.redis.bus import RedisBus
from nous.domain.effects import Effects
from nous.domain.events import Event
from nous.jobs.base import QueueKind
from nous.jobs.rq.job import AllowListedJob
from nous.jobs.rq.pool_worker import run_quarantine
from nous.jobs.rq.queue import queue_named
from nous.llm.base import Question, Reply
from nous.llm.state import LlmKeys, ResponseStore
from nous.pipeline.worker import Handler, Worker, WorkerContext
from nous.runtime.attempt import Attempts
from nous.runtime.worker_process import QuarantineStarter, WorkerProcess
from nous.settings import load_settings
from nous.store.redis.plans import plan_for
from nous.store.transcript_source import upload_of

_PR_SET_PDEATHSIG = 1
"""Of Linux's <linux/prctl.h>."""


def noted(worker: Worker) -> Worker:
    """*worker*, whose handlers' runs can be counted, and which takes its time."""
    runs = os.open(os.environ["CHAOS_RUNS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    think = float(os.environ.get("CHAOS_THINK", "0"))

    def build_(context: WorkerContext) -> Handler:
        handler = worker.handler_factory(context)
        begun = False

        def handle(event: Event, /) -> Effects:
            nonlocal begun
            if not begun:  # a second time, in the same run, is after a refused commit
                os.write(runs, f"{worker.name} {event.id}\n".encode())
                begun = True
            time.sleep(random.random() * think)
            if event.session_id.startswith("poison"):
                os.kill(os.getpid(), signal.SIGKILL)
            return handler(event)

        return handle

    return replace(worker, handler_factory=build_)


def built() -> Container:
    """The world of a worker process, with workers that are noted, and what the environment says of clock and deaths."""
    container = build(load_settings())
    container = container.replaced(workers={name: noted(worker) for name, worker in container.workers.items()})
    clock = partial(_shifted, Path(os.environ["CHAOS_CLOCK"])) if "CHAOS_CLOCK" in os.environ else None
    settings, deaths = container.settings, Deaths(os.environ.get("CHAOS_DEATHS"))
    keys = LlmKeys(settings.prefix)
    responses = MortalResponses(container.client, keys, answer_ttl=settings.retention.answer_ttl)
    bus = MortalBus(
        container.client,
        plan_of=partial(plan_for, keys=container.store_keys),
        keys=container.bus_keys,
        subscriptions=container.subscriptions,
        upload_of=partial(upload_of, keys=container.store_keys),
        marker_ttl=settings.retention.marker_ttl,
        clock=clock,
    )
    responses.deaths = bus.deaths = deaths
    return container.replaced(
        bus=bus,
        llm_stores=replace(container.llm_stores, responses=responses),
        clock=lambda: datetime.fromtimestamp((clock or time.time)(), tz=UTC),
    )


def _shifted(path: Path) -> float:
    return time.time() + float(path.read_text() or "0")


class Deaths:
    """Where this process dies: around answers to a third of all questions each, and at a third of all commits."""

    def __init__(self, folder: str | None) -> None:
        """Note each death in *folder*, so that it is the only one of its kind; without one, no process dies."""
        self._folder = folder

    def at(self, point: str, name: UUID | str, share: int) -> None:
        number = name.int if isinstance(name, UUID) else int(name, 16)
        if self._folder and number % 3 == share:
            with suppress(FileExistsError):
                Path(self._folder, f"{point}-{number}").touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)


class MortalResponses(ResponseStore):
    """The real cache of responses; the process may die before or after it has kept one."""

    deaths: Deaths

    @override
    def save(self, question: Question, model: str, reply: Reply) -> Reply:
        if question.name != "episode":
            return super().save(question, model, reply)
        self.deaths.at("before-answer-is-kept", question.digest, 0)
        kept = super().save(question, model, reply)
        self.deaths.at("after-answer-is-kept", question.digest, 1)
        return kept


class MortalBus(RedisBus):
    """The real bus; the process may die before it commits an episode."""

    deaths: Deaths

    @override
    def commit(self, delivery: Delivery, effects: Effects) -> Verdict:
        if delivery.ref.subscription.group == WORKERS[0]:
            self.deaths.at("at-commit", delivery.event.id, 2)
        return super().commit(delivery, effects)


def run_fleet(names: list[str], *, desks_only: bool) -> None:
    """What `nous worker` runs, until the first SIGTERM; the second one ends it at once."""
    container = built()
    quarantines = QuarantineStarter([sys.executable, __file__, "quarantine"])
    if desks_only:
        crew = WorkerProcess(
            [dispatch_loop(container, each, open_quarantine=quarantines.open) for each in names],
            finish=container.leases.stop,
        )
    else:
        crew = worker_process(container, names, open_quarantine=quarantines.open)
    signal.signal(signal.SIGTERM, lambda _number, _frame: crew.stop())
    crew.start()
    crew.wait()
    quarantines.stop()


class ForkingWorker(RqWorker):
    """RQ's own worker, whose jobs find the world at hand: it would take each fork a second to build."""

    runner: Attempts

    @override
    def perform_job(self, job: Any, queue: Any, execution: Any) -> bool:
        job.runner = self.runner
        return super().perform_job(job, queue, execution)


def made_ready(container: Container) -> Container:
    """*world*, in which handlers have run once, for nothing: else each fork would compile all patterns anew."""
    workers = discover()
    summarize, learn = (workers[name].handler_factory(container.context) for name in WORKERS)
    for event in summarize(ended("nobody", 0)).events:
        learn(event)
    return container


def run_forks(names: list[str]) -> None:
    container = made_ready(built())
    # Two queues in one worker: then RQ has no list of what it has taken and not begun.
    queues = [queue_named(QueueKind.LIVE.queue(each), container.rq_client) for each in names]
    worker = ForkingWorker(
        queues,
        connection=container.rq_client,
        job_class=AllowListedJob,
        serializer=JSONSerializer,
        default_worker_ttl=30,
    )
    worker.runner = container.attempts
    worker.work(logging_level=None)


def run_quarantined(name: str) -> None:
    os.environ.pop("CHAOS_DEATHS", None)  # a death there would be held against its session
    container = built()
    run_quarantine(
        name,
        client=container.rq_client,
        name=f"{name}-quarantine-{os.getpid()}",
        runner=container.attempts,
        blame=container.attempts.blame,
    )


def run(mode: str, names: list[str]) -> None:
    log.configure("warning", "json")
    if mode == "forks":
        run_forks(names)
    else:
        run_fleet(names, desks_only=mode == "desks")


def fork(order: Mapping[str, Any]) -> int:
    """Start a process, which leads a group of its own; its pid."""
    assert threading.active_count() == 1, "a thread would be lost in the fork, with whatever it has locked"
    if child := os.fork():
        return child
    _die_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    told = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for mine, number in ((nothing, 0), (told, 1), (told, 2)):
        os.dup2(mine, number)
    os.environ.clear()
    os.environ.update(order["environment"])
    try:
        run(order["mode"], order["names"])
    except BaseException as error:  # noqa: BLE001 (the outermost call of a process: what ended it stands in its log)
        log.configure("warning", "json")
        sys.stderr.write(f"ended by {error!r}\n")
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def _die_with_parent() -> None:
    """Whatever ends the tests ends this process."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    discover()
    gc.collect()
    gc.freeze()  # or the first collection of every child copies all of this one's memory
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how they ended
    children: list[int] = []
    print("ready", flush=True)
    for line in sys.stdin:
        children.append(fork(json.loads(line)))
        print(children[-1], flush=True)
    for child in children:
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            continue


if __name__ == "__main__":
    if sys.argv[1:2] == ["quarantine"]:
        log.configure("warning", "json")
        run_quarantined(sys.argv[2])
    else:
        main()
