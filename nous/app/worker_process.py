"""Build a `WorkerProcess` and its loops: event dispatch, job pools and maintenance."""

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from secrets import token_hex

from nous.app.container import Container
from nous.app.from_settings import deadline_of
from nous.bus.redis.streams import RedisTrimming
from nous.domain.events import EpisodeOutdated, SessionTouched, kinds
from nous.jobs.base import QueueKind
from nous.jobs.rq.pool_worker import PoolWorker
from nous.jobs.rq.queue import queue_named
from nous.runtime.maintenance import Resummarizer, SessionMaintenanceLoop, StreamTrimmer
from nous.runtime.worker_process import Dispatcher, DispatchLoop, Loop, WorkerProcess
from nous.services.session_lifecycle import SessionRecovery

EPISODE_SUMMARIZER = "episode-summarizer"


_SELDOM = 12  # idle checks between two recoveries of sessions, at least: a recovery reads all dead letters
_TIDY = 3600.0  # seconds between two trims of the streams


def worker_process(
    container: Container, names: Iterable[str], *, open_quarantine: Callable[[str], None], also: Iterable[Loop] = ()
) -> WorkerProcess:
    """Build a process of workers and of loops *also*. Raises `NotFound`, `Misconfigured`."""
    container.check_model()
    loops: list[Loop] = [*also]
    for name in [container.subscription(each).group for each in names]:
        loops += [dispatch_loop(container, name, open_quarantine=open_quarantine), pool(container, name)]
        loops += [*resummarizers(container, name), *session_loops(container, name)]
    trimming = RedisTrimming(container.client, container.bus_keys, subscriptions=container.subscriptions)
    keep = container.settings.retention.events
    loops.append(StreamTrimmer(trimming, kinds=kinds().values(), keep=keep, interval=_TIDY))
    return WorkerProcess(loops, finish=container.leases.stop)


def resummarizers(container: Container, name: str) -> Iterator[Resummarizer]:
    """Yield the loop that queues episodes for the model, if the worker *name* regenerates them."""
    summarizer, settings = container.context.summarizer, container.settings
    if summarizer and settings.llm.upgrade and container.subscription(name).kind is EpisodeOutdated:
        yield Resummarizer(
            container.subscription(name),
            context=container.context,
            bus=container.bus,
            delivery_stats=container.delivery_stats,
            by=summarizer.by,
            ahead=settings.worker.queue_ahead,
            interval=settings.worker.sweep_interval,
        )


def session_loops(container: Container, name: str) -> Iterator[SessionMaintenanceLoop]:
    """Yield the loop that closes idle sessions, if the worker *name* tracks session activity."""
    if container.subscription(name).kind is SessionTouched:
        interval, idle = container.settings.worker.sweep_interval, container.settings.sessions.idle
        recovery = SessionRecovery(
            context=container.context,
            bus=container.bus,
            delivery_stats=container.delivery_stats,
            dead=container.dead_letters,
            touches=container.subscription(name),
            ends=container.subscription(EPISODE_SUMMARIZER),
            idle=timedelta(seconds=idle),
        )
        yield SessionMaintenanceLoop(recovery, interval=interval, recover_every=max(interval * _SELDOM, idle))


def dispatch_loop(container: Container, name: str, *, open_quarantine: Callable[[str], None]) -> DispatchLoop:
    subscription, settings = container.subscription(name), container.settings.worker
    dispatcher = Dispatcher(
        subscription,
        bus=container.bus,
        jobs=container.jobs,
        retry_policy=container.retry_policy,
        ahead=settings.queue_ahead,
    )
    return DispatchLoop(dispatcher, sweep_interval=settings.sweep_interval, open_quarantine=open_quarantine)


def pool(container: Container, name: str) -> PoolWorker:
    settings, known_as = container.settings.worker, container.job_names.own(name)
    return PoolWorker(
        [queue_named(line.queue(known_as), container.rq_client) for line in (QueueKind.LIVE, QueueKind.BULK)],
        # A container that restarts has the same host and pid as the one that died a moment ago.
        name=f"{known_as}-{socket.gethostname()}-{os.getpid()}-{token_hex(2)}",
        connection=container.rq_client,
        runner=container.attempts,
        concurrency=settings.concurrency,
        # The last lease, renewed at the deadline, has expired by then, and another attempt has the event.
        give_up_after=deadline_of(container.settings) + settings.lease,
    )
