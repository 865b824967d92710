"""The RQ job that nous runs: named functions only, and nothing else that a queue could smuggle in."""

import zlib
from contextlib import suppress
from typing import Any

from rq.job import Job
from rq.serializers import JSONSerializer

from nous.errors import Fatal
from nous.jobs.base import Runner

FUNCTION = "nous.job.perform"
"""The one function a job may name. Its arguments say which attempt to make; they hold no content."""

Words = tuple[str, str, str, int]


class ForeignJob(Fatal):
    """A job that nous did not write. It is not run."""


class AllowListedJob(Job):
    """A job that runs `nous.job.perform`, and refuses everything else.

    JSON keeps pickles out, but a JSON job still names its function: `os.system` would run. Callbacks and webhooks name
    functions and addresses of their own, so a job is read without them.
    """

    runner: Runner | None = None
    """Set by a worker that has the world at hand; without it, the function finds the world by itself."""

    def restore(self, raw_data: Any) -> Any:
        """Read the job from Redis, without the callbacks and webhooks that somebody may have written there."""
        restored = super().restore(raw_data)
        self._refuse_foreign_code()
        return restored

    def _execute(self) -> Any:
        _refuse_unless_ours(self.func_name)
        if self.runner is not None:
            return self.runner(*self.args, **self.kwargs)
        return super()._execute()

    def _refuse_foreign_code(self) -> None:
        self._success_callback_name = None
        self._failure_callback_name = None
        self._stopped_callback_name = None
        self.webhooks = []


def words_for(worker: str, lane: str, entry: str, attempt: int) -> bytes:
    """The call of `nous.job.perform` with these words, as RQ saves one in a job's field `data`."""
    return zlib.compress(JSONSerializer.dumps((FUNCTION, None, (worker, lane, entry, attempt), {})))


def words_in(data: bytes) -> Words:
    """The words that the call saved in *data* hands to `nous.job.perform`.

    Raises:
        ForeignJob: it calls something else, or cannot be read.
    """
    with suppress(zlib.error):  # RQ takes what is not compressed as it is
        data = zlib.decompress(data)
    try:
        function, _, arguments, _ = JSONSerializer.loads(data)
        _refuse_unless_ours(function)
        worker, lane, entry, attempt = arguments
    except (ValueError, TypeError):
        raise ForeignJob("what the job calls cannot be read") from None
    return worker, lane, entry, attempt


def _refuse_unless_ours(function: Any) -> None:
    if function != FUNCTION:
        raise ForeignJob(f"the job names the function {str(function)[:80]!r}; only {FUNCTION} is run")
