"""Waiting for sessions ends where only a worker is left that no process runs."""

from pathlib import Path

import pytest
from builders.command_line import Nous
from rq import Worker

from nous.app.container import Container
from nous.cli import publish
from nous.cli.framework import FAILED
from nous.jobs.base import QueueKind
from nous.jobs.rq.queue import queue_named

CHAT = "User: Which port does service billing use?\n\nAssistant: Billing listens on port 9017 from now on.\n"
HOURS = "9999"


def run_elsewhere(container: Container, name: str) -> None:
    """Register a process that runs the worker *name*, and nothing else."""
    queue = queue_named(QueueKind.LIVE.queue(container.job_names.own(name)), container.rq_client)
    Worker([queue], connection=container.rq_client).register_birth()


def test_a_worker_that_no_process_runs_is_named_where_others_run(container: Container) -> None:
    wanted = {"episode-summarizer", "fact-extractor"}
    assert publish.unattended(container, wanted) == frozenset()

    run_elsewhere(container, "fact-extractor")

    assert publish.unattended(container, wanted) == {"episode-summarizer"}


def test_it_is_not_waited_for(
    container: Container, nous: Nous, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "_RESTART", 0.0)
    run_elsewhere(container, "fact-extractor")
    (tmp_path / "chat.txt").write_text(CHAT)

    waited = nous("publish", tmp_path / "chat.txt", "--wait", "--timeout", HOURS)

    assert "work waits for episode-summarizer, which no process runs: nous worker episode-summarizer" in waited.stderr
    assert waited.exit_code == FAILED
