"""What a good engineer writes in an afternoon with redis-py and RQ, to do what nous does. The baseline of its fence.

A consumer reads the stream, queues a job for each event and acknowledges it; RQ's workers run the jobs; a job handles
its event, writes what follows and appends the events that follow. What was chosen, and why:

    - the consumer reads what it has not acknowledged when it begins, so its own death loses nothing; it may queue twice
    - one queue: with two, RQ does not note what a worker has taken and not yet begun
    - `Retry(max=3, interval=[1, 2, 4])` with RQ's scheduler, which waits less long than RQ's examples do
    - handlers, stores, and the check that a log of facts has not changed meanwhile are the product's own: what differs
      is that nothing ties a write, the events that follow and the acknowledgement together
    - first the write, then the events: what was announced and not written would be worse
    - redis-py's clients as they come, with their timeouts and retries; RQ's maintenance stays as it is
    - whatever ends by itself is started again at once, as a supervisor would
"""

import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from types import FrameType
from typing import Any

import redis
from rq import Retry, get_current_job
from rq.queue import Queue
from rq.scheduler import RQScheduler
from rq.serializers import JSONSerializer
from rq.worker import Worker as RqWorker
from typing_extensions import override  # typing has it from Python 3.12 on

from nous.app.container import Container
from nous.bus.base import Conflict, Priority
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects
from nous.domain.event_codec import decode, encode
from nous.redis_server.client import address

GROUP = "plain"
QUEUE = "plain"
_AT_ONCE = 10
_BLOCK = 500
"""Milliseconds."""
_PAUSE = 0.2
_TRIES = 50


def queue_on(client: redis.Redis) -> Queue:
    return Queue(QUEUE, connection=client, serializer=JSONSerializer)


def consume(container: Container, names: Iterable[str]) -> None:
    """Queue a job for each event, and acknowledge it, until SIGTERM."""
    client = _client(container)
    keys = BusKeys(container.settings.prefix)
    streams = {keys.stream(container.workers[name].consumes.type, Priority.LIVE): name for name in names}
    is_over = False

    def end(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_over
        is_over = True

    signal.signal(signal.SIGTERM, end)
    after = "0"
    while not is_over:
        try:
            _open(client, streams)
            after = _pass_on(client, streams, after)
        except redis.RedisError:
            after = "0"
            time.sleep(_PAUSE)


def _open(client: Any, streams: Iterable[str]) -> None:
    for stream in streams:
        with suppress(redis.ResponseError):  # there is one
            client.xgroup_create(stream, GROUP, id="0", mkstream=True)


def _pass_on(client: Any, streams: dict[str, str], after: str) -> str:
    """Queue what comes; from where to read on: what is not acknowledged comes first."""
    read = client.xreadgroup(GROUP, "consumer", dict.fromkeys(streams, after), count=_AT_ONCE, block=_BLOCK)
    found = [(stream.decode(), entry, fields) for stream, entries in read for entry, fields in entries]
    queue = queue_on(client)
    for stream, entry, fields in found:
        queue.enqueue(handle, streams[stream], fields[b"event"].decode(), retry=Retry(max=3, interval=[1, 2, 4]))
        client.xack(stream, GROUP, entry)
    return after if found else ">"


def handle(worker: str, raw: str) -> None:
    """The job: handle an event, write what follows, and tell it."""
    job: Any = get_current_job()
    container: Container = job.container
    effects = _written(container, worker, raw)
    client, keys = _client(container), BusKeys(container.settings.prefix)
    for event in effects.events:
        client.xadd(keys.stream(event.type, Priority.LIVE), {"event": encode(event)})


def _written(container: Container, worker: str, raw: str) -> Effects:
    """What the handler returned, stored; it is asked again where others were faster."""
    kind = container.workers[worker].consumes
    event, handler = (
        decode(raw.encode(), type_hint=kind.type),
        container.workers[worker].handler_factory(container.context),
    )
    for _ in range(_TRIES):
        effects = handler(event)
        if not isinstance(container.bus.apply(replace(effects, events=())), Conflict):
            return effects
    raise TimeoutError(f"others were faster {_TRIES} times")


class _Worker(RqWorker):
    """RQ's own worker, whose jobs find the world at hand: it would take each fork a second to build."""

    container: Container

    @override
    def perform_job(self, job: Any, queue: Any, execution: Any) -> bool:
        job.container = self.container
        return super().perform_job(job, queue, execution)


def work(container: Container) -> None:
    """RQ's worker, until SIGTERM."""
    client = _client(container)
    worker = _Worker([queue_on(client)], connection=client, serializer=JSONSerializer)
    worker.container = container
    worker.work(logging_level="WARNING")


def schedule(container: Container) -> None:
    """RQ's scheduler, which brings back what is to be tried again; `rq worker --with-scheduler` begins the same."""
    scheduler = RQScheduler([QUEUE], connection=_client(container), serializer=JSONSerializer)
    for _ in _while_locked(scheduler):
        time.sleep(_PAUSE)
    scheduler.work()


def _while_locked(scheduler: RQScheduler) -> Iterator[None]:
    """One that was killed has left a lock for a minute."""
    while not scheduler.acquire_locks():
        yield


def _client(container: Container) -> Any:
    return redis.Redis.from_url(address(container.settings))
