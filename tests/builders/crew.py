"""Workers that run in this process."""

from collections.abc import Generator
from contextlib import contextmanager

from nous.app.container import Container
from nous.app.worker_process import worker_process


@contextmanager
def working(container: Container, *names: str) -> Generator[None]:
    """The workers *names* run; every worker, if none is named."""
    crew = worker_process(container, names or sorted(container.workers), open_quarantine=lambda _: None)
    crew.start()
    try:
        yield
    finally:
        crew.stop()
        crew.wait()
