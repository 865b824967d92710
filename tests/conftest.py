"""Builders and waiting, for every test, and what no test leaves to the next."""

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
import structlog
from builders import waiting
from builders.events import event_of
from hypothesis import settings

from nous.domain.events import SessionEnded
from nous.transcript.model import Entry, Kind, Transcript

Ended = Callable[..., SessionEnded]
WaitUntil = Callable[..., None]
Told = Callable[..., Transcript]


def pytest_configure(config: pytest.Config) -> None:
    """Try a law with few examples: as many as HYPOTHESIS_EXAMPLES says, if `--hypothesis-profile` says nothing.

    They may take their time, as other processes may be busy.
    """
    if not config.getoption("--hypothesis-profile", default=None):
        few = int(os.environ.get("HYPOTHESIS_EXAMPLES", "40"))
        settings.register_profile("few", max_examples=few, deadline=None)
        settings.load_profile("few")


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where Python is told to keep no bytecode, every process would compile all that it imports: most of its CPU."""
    ours = tmp_path_factory.getbasetemp()
    shared = ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NOUS_SCOPE", "default")  # not that of the folder in which the tests are run
        if sys.dont_write_bytecode:
            patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
            patch.setenv("PYTHONPYCACHEPREFIX", str(shared / "bytecode"))
        yield


@pytest.fixture(scope="session", autouse=True)
def listening_briefly() -> Iterator[None]:
    """A loop that listens notices a stop only afterwards: most of the time of many a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nous.jobs.rq.pool_worker._LISTEN", 0.5)
        patch.setattr("nous.runtime.worker_process._LISTEN", 0.5)
        yield


@pytest.fixture(autouse=True)
def own_signals() -> Iterator[None]:
    """A worker of RQ leaves its handlers behind: Ctrl-C would go on to stop that worker, and not the tests."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """Who owns a process decides what it logs and how, for good: the next test would not see its own lines."""
    loggers = [logging.getLogger(name) for name in (None, "nous", "rq.worker", "rq.job")]
    before = [(logger, logger.level, list(logger.handlers), logger.propagate) for logger in loggers]
    yield
    for logger, level, handlers, propagate in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers
        logger.propagate = propagate
    structlog.reset_defaults()


@pytest.fixture
def ended() -> Ended:
    """Builds a `session_ended` event; the same session and text make the same event."""

    def build(session: str = "s1", text: str = "User: hi", **fields: Any) -> SessionEnded:
        return event_of(SessionEnded, f"{session}\n{text}", **{"session_id": session, "transcript": text, **fields})

    return build


@pytest.fixture
def wait_until() -> WaitUntil:
    """Waits for a condition, and says what it waited for when that does not come about."""
    return waiting.wait_until


@dataclass
class Clock:
    """Seconds since the epoch, moved by hand."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now

    def date(self) -> datetime:
        return datetime.fromtimestamp(self.now, tz=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def told() -> Told:
    """Builds a transcript from entries, each `(kind, text)` or `(kind, text, more fields)`."""

    def build(*entries: tuple[Any, ...], **fields: Any) -> Transcript:
        built: list[Entry] = []
        turn = 0
        for number, (kind, text, *more) in enumerate(entries):
            turn += kind == Kind.USER
            built.append(Entry(kind=Kind(kind), text=text, id=f"e{number}", turn=turn, **(more[0] if more else {})))
        size = sum(len(entry.text) for entry in built)
        known: dict[str, Any] = {"format": "test", "entries": tuple(built), "digest": "0" * 64, "bytes": size}
        return Transcript(**{**known, **fields})

    return build
