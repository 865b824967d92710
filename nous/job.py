"""The function that every RQ job names.

A stock RQ worker runs it too, with the same promises: `rq worker -S json -j nous.jobs.rq.job.AllowListedJob QUEUE`.
Its settings say which installation that serves; a job of another one is refused.
"""

from functools import cache

from nous import log
from nous.app import World, build
from nous.settings import load_settings


def perform(worker: str, lane: str, entry: str, attempt: int) -> str:
    """Make one attempt at one delivery; `nous.runtime.attempt` says what that is."""
    return _world().attempts(worker, lane, entry, attempt)


@cache
def _world() -> World:
    # The one value that lives as long as its process: RQ hands a job nothing but words, and nobody else to ask.
    settings = load_settings()
    log.configure(settings.log_level, settings.log_format)
    world = build(settings)
    world.check_model()
    return world
