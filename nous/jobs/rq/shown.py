"""RQ's nouns as a dashboard should meet them: read as JSON whatever it asks for, and patient with jobs that move on.

rq-dashboard 0.9.0 was written for RQ 1 and for pickled jobs. Against RQ 3 and ours it answers 500

- on the list of workers while one is busy: it fetches the current job without saying that it is JSON;
- on a job that depends on another: RQ's ids are no longer bytes;
- on deleting a job whose execution ended, or expired with its worker, since it was listed;
- on compacting an empty queue;
- on a worker whose job was deleted meanwhile.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from redis import Redis
from rq import Queue, Worker
from rq.exceptions import NoSuchJobError
from rq.executions import Execution, ExecutionRegistry
from rq.job import Job
from rq.serializers import JSONSerializer

from nous.jobs.base import JobNames

UNREADABLE = "(not JSON)"
"""Stands for what another application pickled on the same server."""


class JsonOnly(JSONSerializer):
    """Reads JSON and nothing else, so that looking at a job never runs what a pickle may hold."""

    @staticmethod
    def loads(s: bytes, *args: Any, **kwargs: Any) -> Any:
        try:
            return JSONSerializer.loads(s, *args, **kwargs)
        except ValueError:
            return UNREADABLE


class _Id(str):
    """A job's id that can also be asked for its text as bytes can."""

    __slots__ = ()

    def decode(self, _encoding: str) -> str:
        return str(self)


class _Executions(ExecutionRegistry):
    """A job's executions, with the name alone of those that have gone."""

    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        return [self._execution(name) for name in self.get_execution_ids(start, end)]

    def _execution(self, name: str) -> Execution:
        try:
            return Execution.fetch(id=name, job_id=self.job_id, connection=self.connection)
        except ValueError:
            return Execution(id=name, job_id=self.job_id, connection=self.connection)


class ShownJob(Job):
    """A job to look at, delete or queue again, never to run."""

    def __init__(self, id: str | None = None, connection: Redis | None = None, serializer: object = None) -> None:  # noqa: A002, ARG002 - the parameters are RQ's
        super().__init__(id, connection=connection, serializer=JsonOnly)

    @property
    def dependency_ids(self) -> list[str]:
        return [_Id(name) for name in super().dependency_ids]

    @property
    def execution_registry(self) -> ExecutionRegistry:
        return _Executions(self.id, connection=self.connection)

    def get_call_string(self) -> str | None:
        """What the job is about, in place of a call that is the same for every job but for its ids."""
        return self.description


class ShownQueue(Queue):
    """A queue, which may be empty."""

    names: ClassVar[JobNames | None] = None

    @classmethod
    def all(cls, *args: Any, **options: Any) -> list[Queue]:
        """The queues of the installation; of every one without *names*."""
        return [each for each in super().all(*args, **options) if cls.names is None or cls.names.owns_any([each.name])]

    def compact(self) -> None:
        if not self.is_empty():
            super().compact()


class ShownWorker(Worker):
    """A worker as it is registered, with one of the jobs it has in flight and the number of the others."""

    names: ClassVar[JobNames | None] = None

    @classmethod
    def all(cls, *args: Any, **options: Any) -> list[Any]:
        """The workers of the installation; of every one without *names*."""
        found: list[Any] = super().all(*args, **options)
        return [each for each in found if cls.names is None or cls.names.owns_any(each.queue_names())]

    def get_current_job(self) -> Job | None:
        try:
            job = super().get_current_job()
        except NoSuchJobError:
            return None
        if job is not None and (others := len(self.get_current_executions()) - 1) > 0:
            job.description = f"{job.description} and {others} more"
        return job


@dataclass(frozen=True, slots=True)
class Shown:
    """The four names of RQ that rq-dashboard uses."""

    job: type[Job]
    queue: type[Queue]
    worker: type[Worker]
    requeue: Callable[..., Job]


def shown(job_class: type[Job], names: JobNames | None = None) -> Shown:
    """RQ's nouns for jobs of the class *job_class*, and with *names* for what one installation has."""
    job = cast("type[Job]", type("Job", (ShownJob, job_class), {}))
    queue = cast("type[Queue]", type("Queue", (ShownQueue,), {"job_class": job, "names": names}))
    nouns = {"job_class": job, "queue_class": queue, "names": names}
    worker = cast("type[Worker]", type("Worker", (ShownWorker,), nouns))

    def requeue(job_id: str, connection: Redis) -> Job:
        return job.fetch(job_id, connection=connection).requeue()

    return Shown(job, queue, worker, requeue)
