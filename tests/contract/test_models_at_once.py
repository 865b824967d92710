"""Many calls at once, in one process and in a forked one."""

import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from builders.model_server import ModelServer
from builders.questions import question, remote

from nous.domain.errors import Misconfigured
from nous.llm.base import ModelBusy, ModelTimeout, ModelUnreachable
from nous.llm.event_loop_thread import LoopThread
from nous.llm.http_model import HttpModel

CALLS = 200


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(lambda request: f'{{"title":"{request.user}"}}') as server:
        yield server


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    with LoopThread() as loop:
        yield loop


def ask_all(model: HttpModel) -> list[str]:
    users = [f"number {number}" for number in range(CALLS)]
    with ThreadPoolExecutor(CALLS) as pool:
        return [reply.text for reply in pool.map(model.ask, map(question, users))]


EXPECTED = [f'{{"title":"number {number}"}}' for number in range(CALLS)]


def test_no_more_calls_are_in_flight_than_may_be(server: ModelServer, loop: LoopThread) -> None:
    server.hold(5)
    with closing(remote(server, loop, concurrency=5, deadline=30)) as model:
        assert ask_all(model) == EXPECTED

    assert server.peak == 5


def test_a_forked_child_asks_over_a_connection_of_its_own(server: ModelServer, loop: LoopThread) -> None:
    with closing(remote(server, loop)) as model:
        model.ask(question("the parent"))
        forking = multiprocessing.get_context("fork")
        answers: Any = forking.SimpleQueue()
        child = forking.Process(target=lambda: answers.put(model.ask(question("the child")).text))
        child.start()
        child.join(timeout=20)

        assert child.exitcode == 0
        assert answers.get() == '{"title":"the child"}'
        assert "the parent, again" in model.ask(question("the parent, again")).text


def test_one_thread_runs_the_loop_whoever_asks_and_none_when_it_is_closed() -> None:
    threads: set[threading.Thread] = set()

    async def note() -> None:
        threads.add(threading.current_thread())

    with LoopThread() as loop, ThreadPoolExecutor(8) as pool:
        for call in [pool.submit(loop.run, note, deadline=5) for _ in range(100)]:
            call.result()

    (only,) = threads
    assert only.name == "nous-llm-loop"
    assert not only.is_alive()


def test_building_a_model_loads_no_package_of_a_provider() -> None:
    code = """
import sys
from datetime import datetime
from nous.llm.provider import Endpoint
from nous.llm.event_loop_thread import LoopThread
from nous.llm.http_model import HttpModel
HttpModel(Endpoint(provider="ollama", model="m", deadline=1, concurrency=1), loop=LoopThread(), clock=datetime.now)
print([name for name in ("openai", "anthropic", "httpx2") if name in sys.modules])
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == "[]"


def test_a_missing_package_is_named_with_the_way_to_get_it(
    server: ModelServer, loop: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)

    with pytest.raises(Misconfigured, match=r"the extra nous\[llm\]"):
        remote(server, loop).ask(question())


def test_a_call_waits_for_a_slot_no_longer_than_its_deadline(server: ModelServer, loop: LoopThread) -> None:
    server.hold(CALLS)  # so whoever has the slot keeps it up to its deadline
    with closing(remote(server, loop, concurrency=1, deadline=0.3)) as model, ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(model.ask, question()) for _ in range(3)]
        errors = [call.exception() for call in calls]

    assert {type(error) for error in errors} == {ModelTimeout, ModelBusy}
    assert len(server.requests) == sum(isinstance(error, ModelTimeout) for error in errors)


def test_closing_the_loop_ends_the_calls_that_are_under_way(
    server: ModelServer, wait_until: Callable[..., None]
) -> None:
    server.outage = "hang"
    with ThreadPoolExecutor(1) as pool:
        with LoopThread() as loop:
            call = pool.submit(remote(server, loop).ask, question())
            wait_until(lambda: server.requests, "the question to arrive")
        with pytest.raises(ModelUnreachable, match="the loop was closed"):
            call.result()
