"""What is built of a process, and workers that run in this one."""

from collections.abc import Generator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from nous.app.container import Container, build
from nous.app.worker_process import worker_process
from nous.redis_server import embedded
from nous.settings.model import Settings
from nous.text.injection import reports_on_document


@contextmanager
def working(container: Container, *names: str) -> Generator[None]:
    """The workers *names* run; every worker, if none is named."""
    reports_on_document("")  # compiles patterns for a quarter of a second: else each of many threads does so at once
    crew = worker_process(container, names or sorted(container.workers), open_quarantine=lambda _: None)
    crew.start()
    try:
        yield
    finally:
        crew.stop()
        crew.wait()


def is_at_rest(container: Container) -> bool:
    """Return whether all published work is finished, with its follow-ups; stops at the first that is not."""
    backlogs = map(container.delivery_stats.backlogs, container.subscriptions)
    return not any(backlog.pending or backlog.waiting for backlog in chain.from_iterable(backlogs))


@contextmanager
def data_directory() -> Generator[Path]:
    """A data directory with a short path, whose server is gone when the test is over."""
    with TemporaryDirectory(prefix="nous-") as name:
        try:
            yield Path(name)
        finally:
            embedded.stop(Path(name))


@contextmanager
def built(settings: Settings) -> Generator[Container]:
    """The world of one process, which leaves no connection open."""
    container = build(settings)
    try:
        yield container
    finally:
        for client in (container.client, container.rq_client):
            client.connection_pool.disconnect()
