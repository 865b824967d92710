"""The RQ job that nous runs: named functions only, and nothing else that a queue could smuggle in."""

from typing import Any

from rq.job import Job

from nous.errors import Fatal
from nous.jobs.base import Runner

FUNCTION = "nous.job.perform"
"""The one function a job may name. Its arguments say which attempt to make; they hold no content."""


class ForeignJob(Fatal):
    """A job that nous did not write. It is not run."""


class AllowListedJob(Job):
    """A job that runs `nous.job.perform`, and refuses everything else.

    JSON keeps pickles out, but a JSON job still names its function: `os.system` would run. Callbacks and webhooks name
    functions and addresses of their own, so a job that has any is refused as well.
    """

    runner: Runner | None = None
    """Set by a worker that has the world at hand; without it, the function finds the world by itself."""

    def restore(self, raw_data: Any) -> Any:
        """Read the job from Redis, without the callbacks and webhooks that somebody may have written there."""
        restored = super().restore(raw_data)
        self._refuse_foreign_code()
        return restored

    def _execute(self) -> Any:
        if self.func_name != FUNCTION:
            raise ForeignJob(f"the job names the function {str(self.func_name)[:80]!r}; only {FUNCTION} is run")
        if self.runner is not None:
            return self.runner(*self.args, **self.kwargs)
        return super()._execute()

    def _refuse_foreign_code(self) -> None:
        self._success_callback_name = None
        self._failure_callback_name = None
        self._stopped_callback_name = None
        self.webhooks = []
