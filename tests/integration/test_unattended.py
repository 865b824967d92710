"""Commands that publish or read name the workers that no process runs."""

import os
from pathlib import Path
from socket import gethostname

import pytest
from builders.command_line import Nous
from rq import Worker

import workers
from nous.app.container import Container
from nous.jobs.base import QueueKind
from nous.jobs.rq.queue import queue_named

CHAT = "User: Which port does service billing use?\n\nAssistant: Billing listens on port 9017 from now on.\n"

ECHOER = """
from dataclasses import dataclass
from typing import ClassVar

from nous.domain.events import Event
from nous.pipeline.worker import Worker


@dataclass(frozen=True, kw_only=True)
class Echo(Event):
    type: ClassVar[str] = "echo"


WORKER = Worker("echoer", Echo, lambda context: None)
"""


def run_elsewhere(container: Container, name: str, *, known_as: str = "") -> None:
    """Register a process that runs the worker *name* alone: a `nous worker`, or one that RQ knows as *known_as*."""
    queue = queue_named(QueueKind.LIVE.queue(container.job_names.own(name)), container.rq_client)
    ours = f"{queue.name}-{gethostname()}-{os.getpid()}-ab"
    Worker([queue], name=known_as or ours, connection=container.rq_client).register_birth()


def test_a_worker_of_one_file_with_an_event_of_its_own_is_counted_and_named(
    container: Container, nous: Nous, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "echoer.py").write_text(ECHOER)
    monkeypatch.setattr(workers, "__path__", [*workers.__path__, str(tmp_path)])
    container.client.xadd("nous:events:echo", {"event": '{"data":{"session_id":"s-1"}}'})
    container.client.xgroup_create("nous:events:echo", "echoer", id="0")

    assert nous("status").stdout.startswith("0 sessions, 0 facts: 1 waiting\n")


def test_who_publishes_is_told_if_no_process_dispatches(container: Container, nous: Nous, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(CHAT)
    assert "no worker runs yet" in nous("publish", tmp_path / "chat.txt").stderr

    run_elsewhere(container, "episode-summarizer", known_as="episode-summarizer-1")
    assert "no worker runs yet" in nous("publish", tmp_path / "chat.txt").stderr

    run_elsewhere(container, "fact-extractor")
    assert "no worker runs yet" not in nous("publish", tmp_path / "chat.txt").stderr
