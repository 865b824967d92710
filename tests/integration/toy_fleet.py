"""A program for tests: a fleet with a toy worker that does what the session's id says. Run as a process of its own.

python toy_fleet.py DIRECTORY fleet|quarantine

A handler may take 600 seconds, or as many as the file DIRECTORY/deadline says.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from nous import log
from nous.app.container import build
from nous.app.worker_process import worker_process
from nous.domain.effects import Effects
from nous.domain.events import Event, SessionEnded
from nous.jobs.rq.pool_worker import run_quarantine
from nous.pipeline.worker import Worker, WorkerContext
from nous.runtime.worker_process import QuarantineStarter
from nous.settings.model import Settings, WorkerSettings

LEASE = 1.0
SWEEP = 0.1


def handler(_: WorkerContext) -> Callable[[Event], Effects]:
    def handle(event: Event) -> Effects:
        if event.session_id.startswith("poison"):
            os.kill(os.getpid(), signal.SIGKILL)
        if event.session_id.startswith("asked"):
            os.kill(os.getpid(), signal.SIGTERM)
        if event.session_id.startswith("hung"):
            threading.Event().wait()
        return Effects()

    return handle


def main(mode: str) -> None:
    settings = Settings(
        data_dir=directory,
        embedder="hashed",
        worker=WorkerSettings(
            lease=LEASE, sweep_interval=SWEEP, concurrency=2, deadline=_deadline(), max_attempts=2, backoff_base=0.1
        ),
    )
    log.configure("error", "json")
    container = build(settings, also=[Worker("toy", SessionEnded, handler)])
    if mode == "quarantine":
        run_quarantine(
            "toy",
            client=container.rq_client,
            name=f"quarantine-{os.getpid()}",
            runner=container.attempts,
            blame=container.attempts.blame,
        )
        return
    quarantines = QuarantineStarter([sys.executable, __file__, str(directory), "quarantine"])
    crew = worker_process(container, ["toy"], open_quarantine=quarantines.open)
    signal.signal(signal.SIGTERM, lambda _number, _frame: crew.stop())
    crew.start()
    crew.wait()
    quarantines.stop()


def _deadline() -> float:
    told = directory / "deadline"
    return float(told.read_text()) if told.exists() else 600


if __name__ == "__main__":
    directory = Path(sys.argv[1])
    main(sys.argv[2])
