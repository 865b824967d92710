"""The same work without a fence: a stream, a consumer that acknowledges at enqueue, and RQ as it comes."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from chaos.drill.crew import Crew
from chaos.drill.plain_work import GROUP, QUEUE, queue_on
from chaos.drill.system import PROCESSES, WORKERS
from rq.job import Job
from rq.queue import Queue
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.worker import Worker as RqWorker

from nous.app.container import Container
from nous.bus.accounting import GroupCounters
from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.redis_support.errors import translated

_QUIET = 6.0
"""Seconds without any change after which nobody is taken to be at work: many times what a job takes."""
_LATER = 1000.0
"""Seconds: by then RQ's housekeeping has been there, which looks every ten minutes for what was silent for 90 s."""


@dataclass
class Plain:
    """What stands in `plain_work`, with RQ's own workers, which fork for each job in either case.

    RQ gives up, retries or forgets what a dead worker held, and nothing else knows of it. So when nothing has moved for
    some seconds, RQ's housekeeping is done at once that it would do up to ten minutes later: what it brings back is not
    lost, it was stuck.
    """

    name = "plain"
    _seen: tuple[object, ...] = ()
    _since: float = field(default_factory=time.monotonic)

    def start(self, crew: Crew) -> None:
        crew.start("consumer")
        crew.start("scheduler")
        for _ in range(PROCESSES):
            crew.start("plain")

    def start_forking(self, crew: Crew) -> None:
        self.start(crew)

    def through(self, container: Container) -> tuple[int, int]:
        """What was read and does not wait: that which was lost on the way will not come any more."""
        first, second = (read for _, read, _ in self._groups(container))
        with translated():
            return max(first - queue_on(container.rq_client).count, 0), second

    def running(self, container: Container) -> set[tuple[str, bytes]]:
        client: Any = container.client
        with translated():
            return {(QUEUE, each) for each in client.zrange(_started(container).key, 0, -1)}

    def is_at_rest(self, container: Container) -> bool:
        client: Any = container.client
        groups = list(self._groups(container))
        queue = queue_on(container.rq_client)
        with translated():
            scheduled = client.zcard(queue.scheduled_job_registry.key)
            counts = (client.zcard(queue.failed_job_registry.key), client.zcard(queue.finished_job_registry.key))
            waiting = queue.count
        seen = (*groups, self.running(container), scheduled, counts, waiting)
        if seen != self._seen:
            self._seen, self._since = seen, time.monotonic()
        is_read = all(length == read and not pending for length, read, pending in groups)
        return is_read and not scheduled and not waiting and time.monotonic() - self._since > _QUIET

    def keep_house(self, container: Container) -> int:
        """What RQ's own maintenance would do by and by, done as if its waiting times were over."""
        queue, client = queue_on(container.rq_client), container.rq_client
        with translated():
            taken = queue.intermediate_queue.get_job_ids()
            stuck = len(self.running(container)) + len(taken)
            _started(container).cleanup(timestamp=time.time() + _LATER)
            for job_id in taken:
                client.set(queue.intermediate_queue.get_first_seen_key(job_id), time.time() - _LATER, ex=60)
            queue.intermediate_queue.cleanup(RqWorker([queue], connection=client, serializer=JSONSerializer), queue)
        self._since = time.monotonic()
        return stuck

    def dead(self, container: Container) -> dict[str, str]:
        queue: Any = queue_on(container.rq_client)
        ids = queue.failed_job_registry.get_job_ids(cleanup=False)
        found = Job.fetch_many(ids, connection=container.rq_client, serializer=JSONSerializer)
        return {orjson.loads(job.args[1])["subject"]: "its job failed" for job in found if job}

    def accounts(self, container: Container) -> Mapping[str, GroupCounters]:
        """None: nobody keeps any."""
        del container
        return {}

    def _groups(self, container: Container) -> list[tuple[int, int, int]]:
        """Of the stream of each worker: how long it is, how much of it was read, and how much is not acknowledged."""
        client: Any = container.client
        found: list[tuple[int, int, int]] = []
        for name in WORKERS:
            stream = BusKeys(container.settings.prefix).stream(container.workers[name].consumes.type, Priority.LIVE)
            with translated():
                groups = client.xinfo_groups(stream) if client.exists(stream) else []
                length = client.xlen(stream)
            ours = next((each for each in groups if each["name"] == GROUP.encode()), None)
            found.append((length, ours["entries-read"] or 0, ours["pending"]) if ours else (length, 0, 0))
        return found


def _started(container: Container) -> StartedJobRegistry:
    queue: Queue = queue_on(container.rq_client)
    return StartedJobRegistry(queue=queue)
