"""What became of jobs, told to RQ: at once where that works, again later where it does not.

RQ's books are for people to look at. An attempt whose job could not be filed is over all the same, and its delivery is
safe in the stream.
"""

import traceback
from collections import deque
from collections.abc import Sequence
from typing import Any, TypeVar

import redis
import structlog
from rq.exceptions import NoSuchJobError
from rq.executions import Execution
from rq.serializers import JSONSerializer
from rq.utils import now
from rq.worker import BaseWorker

from nous.errors import NousError
from nous.jobs.rq.books import Begun, Books, Returned
from nous.jobs.rq.gather import Gather
from nous.jobs.rq.job import AllowListedJob
from nous.secrets import masked

_KEPT = 1000
"""Jobs that are kept to be filed again; of more, the oldest are left to RQ's housekeeping."""

T = TypeVar("T")

log = structlog.get_logger(__name__)


class Filing:
    """Files the jobs that one worker has run. Threads may share it."""

    def __init__(self, worker: BaseWorker, books: Books, client: redis.Redis) -> None:
        self._worker = worker
        self._books = books
        self._client = client
        self._together = Gather(self._file)
        self._late: deque[Returned] = deque(maxlen=_KEPT)
        self._late_failures: deque[tuple[Begun, BaseException]] = deque(maxlen=_KEPT)

    def returned(self, job: Begun, said: str) -> None:
        """File a job whose attempt came to its end."""
        self._together(Returned(job, now(), said))

    def failed(self, begun: Begun, error: BaseException) -> None:
        """File a job as failed, with its traceback: rare, and so left to RQ."""
        try:
            job: Any = AllowListedJob.fetch(begun.id, self._client, JSONSerializer)
            self._file_failure(job, begun, error)
        except NoSuchJobError as trouble:
            self._warn([begun], trouble)
        except redis.RedisError as trouble:
            self._late_failures.append((begun, error))
            self._warn([begun], trouble)
        except (
            Exception
        ) as trouble:  # whatever a foreign job holds: it is struck, and the others are filed all the same
            log.warning("RQ's books could not be written", jobs=[begun.id], exc_info=trouble)
            self._books.strike(begun)

    def again(self) -> None:
        """File once more what could not be filed before."""
        if late := _emptied(self._late):
            self._file(late)
        for job, error in _emptied(self._late_failures):
            self.failed(job, error)

    def _file(self, returned: Sequence[Returned]) -> None:
        try:
            failures = self._books.finish(returned)
        except redis.RedisError as error:
            self._late.extend(returned)
            self._warn([each.job for each in returned], error)
        else:
            self._late.extend(each for each in returned if each.job.id in failures)
            for job_id, error in failures.items():
                log.warning("RQ's books could not be written", jobs=[job_id], error=error)

    def _file_failure(self, job: Any, begun: Begun, error: BaseException) -> None:
        job.started_at, job.ended_at = begun.began, now()
        job.origin = begun.queue.name  # whatever somebody has written there: it was taken from this one
        execution = Execution(begun.execution, begun.id, self._client, self._worker.name)
        execution.created_at = begun.began
        text = masked("".join(traceback.format_exception(error)))
        if not isinstance(error, NousError):  # what we raise ourselves was logged with all that follows from it
            self._worker.handle_exception(job, type(error), error, error.__traceback__)
        self._worker.handle_job_failure(job, begun.queue, exc_string=text, execution=execution)

    def _warn(self, jobs: Sequence[Begun], error: Exception) -> None:
        log.warning("RQ's books could not be written", jobs=[job.id for job in jobs], error=str(error))


def _emptied(queue: deque[T]) -> list[T]:
    return [queue.popleft() for _ in range(len(queue))]
