"""Delete RQ jobs and results of erased events or of an erased session; stop no running job."""

from collections.abc import Collection, Iterator
from typing import Any
from uuid import UUID

import redis
from rq.defaults import RQ_KEY_PREFIX
from rq.job import Job
from rq.registry import FailedJobRegistry, FinishedJobRegistry, StartedJobRegistry

from nous.jobs.base import JobNames
from nous.jobs.rq.queue import queue_named
from nous.redis_support.errors import translated


class RqErasure:
    """Deletes jobs of this installation, and results of earlier ones; running jobs go on."""

    def __init__(self, client: redis.Redis, names: JobNames) -> None:
        self._client: Any = client  # replies are narrowed where they are read
        self._names = names

    def erase(
        self, events: Collection[UUID], *, session_id: str | None, but: Collection[UUID], dry_run: bool = False
    ) -> int:
        """Delete the jobs of *events*, and those whose description names the session.

        Not those of the events in *but*. With *dry_run* the jobs are only counted.
        """
        found = [
            (worker, job_id)
            for worker, job_id, event in self._known()
            if self._is_selected(job_id, event, events, session_id, but)
        ]
        if not dry_run:
            for worker, job_id in found:
                self._remove(worker, job_id)
        return len(found)

    def _known(self) -> Iterator[tuple[str, str, UUID]]:
        beginnings = (Job.key_for(""), f"{RQ_KEY_PREFIX}:results:")
        with translated():
            names = {
                key.decode().removeprefix(beginning)
                for beginning in beginnings
                for key in self._client.scan_iter(f"{beginning}*", count=1000)
            }
        for name in sorted(names):
            if attempt := self._names.attempt_of(name):
                yield attempt[0], name, attempt[1]

    def _is_selected(
        self, job_id: str, event: UUID, events: Collection[UUID], session_id: str | None, but: Collection[UUID]
    ) -> bool:
        if event in events:
            return True
        if session_id is None or event in but:
            return False
        with translated():
            description: bytes | None = self._client.hget(Job.key_for(job_id), "description")
        session = (description or b"").decode(errors="replace").partition(" of session ")[2]
        return session == session_id or session.startswith(f"{session_id}, attempt ")

    def _remove(self, worker: str, job_id: str) -> None:
        key = Job.key_for(job_id)
        executions = f"{RQ_KEY_PREFIX}:executions:{job_id}"
        with translated():
            origin: bytes | None = self._client.hget(key, "origin")
            queue = queue_named(origin.decode() if origin else self._names.own(worker), self._client)
            running = [f"{job_id}:{each.decode()}" for each in self._client.zrange(executions, 0, -1)]
            with self._client.pipeline() as pipe:
                pipe.lrem(queue.key, 0, job_id)
                for registry in (FinishedJobRegistry, FailedJobRegistry):
                    pipe.zrem(registry(queue=queue).key, job_id)
                for execution in running:
                    pipe.zrem(StartedJobRegistry(queue=queue).key, execution)
                    pipe.unlink(f"{RQ_KEY_PREFIX}:execution:{execution}")
                pipe.unlink(key, executions, f"{RQ_KEY_PREFIX}:results:{job_id}")
                pipe.execute()
