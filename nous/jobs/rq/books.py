"""RQ's books, kept for jobs that run beside each other in one process.

RQ's own worker writes them a job at a time, in some ten round trips. Here the same entries are written for a handful of
jobs at once when they begin, and in one transaction for each when it ends. Nothing is left out that a dashboard shows.
"""

from collections.abc import Sequence
from datetime import timedelta

from rq.executions import Execution
from rq.job import Job
from rq.queue import Queue
from rq.registry import StartedJobRegistry
from rq.timeouts import BaseDeathPenalty
from rq.utils import now
from rq.worker import BaseWorker, WorkerStatus


class NoPenalty(BaseDeathPenalty):
    """No alarm: SIGALRM reaches the main thread only. A handler's deadline is kept by its lease instead."""

    def setup_death_penalty(self) -> None: ...

    def cancel_death_penalty(self) -> None: ...


class BookKeeper(BaseWorker):
    """The part of an RQ worker that says which jobs it has begun, and what became of each."""

    death_penalty_class = NoPenalty
    log_result_lifespan = False

    def begin(self, taken: Sequence[tuple[Job, Queue]]) -> list[Execution]:
        """Say that these jobs, which stand in the intermediate lists of their queues, have begun."""
        with self.connection.pipeline() as pipe:
            executions: list[Execution] = []
            for job, queue in taken:
                ttl = self.get_heartbeat_ttl(job)
                execution = Execution.create(job, ttl, pipeline=pipe, worker_name=self.name)
                job.prepare_for_execution(self.name, pipeline=pipe)
                pipe.persist(job.key)
                pipe.lrem(queue.intermediate_queue_key, 1, job.id)
                executions.append(execution)
            self.set_state(WorkerStatus.BUSY, pipeline=pipe)
            pipe.execute()
        self.executions.update({execution.id: execution for execution in executions})
        return executions

    def prepare_job_execution(self, job: Job, remove_from_intermediate_queue: bool = False) -> None:  # noqa: FBT001, FBT002 (RQ's signature)
        """Nothing: `begin` has said it."""

    def handle_execution_ended(self, job: Job, queue: Queue, heartbeat_ttl: int) -> None:
        """Note the time. RQ also renews the job's heartbeat here, for callbacks and webhooks; ours have none."""
        del queue, heartbeat_ttl
        job.ended_at = now()

    def handle_job_success(
        self, job: Job, queue: Queue, started_job_registry: StartedJobRegistry, execution: Execution
    ) -> None:
        """Close the books of a job that returned. RQ also watches for dependents and repeats; ours have none."""
        del queue, started_job_registry
        ttl = job.get_result_ttl(self.default_result_ttl)
        with self.connection.pipeline() as pipe:
            self.increment_successful_job_count(pipeline=pipe)
            self.increment_total_working_time(_worked(job), pipe)
            # What RQ's own worker calls; no public name says it.
            job._handle_success(  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
                ttl,
                pipeline=pipe,
                worker_name=self.name,
                execution_id=execution.id,
                execution_started_at=execution.created_at,
                execution_ended_at=job.ended_at,
            )
            job.cleanup(ttl, pipeline=pipe, remove_from_queue=False)
            self.cleanup_execution(job, pipeline=pipe, execution=execution)
            pipe.execute()


def _worked(job: Job) -> timedelta:
    return job.ended_at - job.started_at if job.ended_at and job.started_at else timedelta()
