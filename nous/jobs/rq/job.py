"""RQ job class that can only run `nous.job.perform`; encode and decode a job's call."""

import zlib
from contextlib import suppress
from typing import Any

from rq.job import Job
from rq.serializers import JSONSerializer

from nous.domain.errors import Fatal
from nous.jobs.base import Runner

FUNCTION = "nous.job.perform"
"""The only function a job may name. Its arguments identify the attempt and hold no content."""

_READ = frozenset(
    {
        *(b"data", b"status", b"origin", b"description", b"worker_name", b"meta", b"result", b"exc_info"),
        *(b"created_at", b"enqueued_at", b"started_at", b"ended_at", b"last_heartbeat"),
        *(b"timeout", b"ttl", b"result_ttl", b"failure_ttl"),
    }
)
"""The others name functions and addresses, or make RQ repeat a job, which only our own retry policy decides."""


class ForeignJob(Fatal):
    """A job that nous did not write, and does not run."""


class AllowListedJob(Job):
    """Job that runs `nous.job.perform` and refuses every other function.

    JSON keeps pickles out, but a JSON job still names its function: `os.system` would run. Callbacks and webhooks name
    functions and addresses of their own, and RQ's retries would compete with ours. So a job is read without them.
    """

    runner: Runner | None = None
    """Set by a worker that has an application already. Without it, the function builds one."""

    def restore(self, raw_data: Any) -> Any:
        return super().restore({name: value for name, value in raw_data.items() if name in _READ})

    def _execute(self) -> Any:
        arguments = decode_call(self.data)
        if self.runner is not None:
            return self.runner(*arguments)
        return super()._execute()


def encode_call(worker: str, priority: str, entry: str, attempt: int) -> bytes:
    """Encode a call of `nous.job.perform` as RQ saves one in a job's field `data`."""
    return zlib.compress(JSONSerializer.dumps((FUNCTION, None, (worker, priority, entry, attempt), {})))


def decode_call(data: bytes) -> tuple[str, str, str, int]:
    """Decode the arguments for `nous.job.perform`. Raises `ForeignJob` for any other call."""
    with suppress(zlib.error):  # RQ accepts uncompressed data, too
        data = zlib.decompress(data)
    try:
        function, _, arguments, _ = JSONSerializer.loads(data)
        if function != FUNCTION:
            raise ForeignJob(f"the job names the function {str(function)[:80]!r}; only {FUNCTION} is run")
        worker, priority, entry, attempt = arguments
    except (ValueError, TypeError):
        raise ForeignJob("the job's call cannot be read") from None
    return worker, priority, entry, attempt
