"""Job function for stock RQ workers: set up once per process, run one delivery attempt.

The guarantees are those of `nous worker`: `rq worker -S json -j nous.jobs.rq.job.AllowListedJob QUEUE`. The settings of
the process say which installation it serves. A job of another one is refused.
"""

from functools import cache

from nous import log
from nous.app.container import Container, build
from nous.settings import load_settings


def perform(worker: str, priority: str, entry: str, attempt: int) -> str:
    """Make one attempt at one delivery, see `nous.runtime.attempt`; return its outcome."""
    return _container().attempts(worker, priority, entry, attempt)


@cache
def _container() -> Container:
    # The only process-wide value: RQ passes a job its arguments alone, and offers no other way to share a client.
    settings = load_settings()
    log.configure(settings.log_level, settings.log_format)
    container = build(settings)
    container.check_model()
    return container
