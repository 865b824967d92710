"""Many calls at once, in one process and in a forked one."""

import multiprocessing
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from builders.model_server import ModelServer
from builders.questions import question, remote

from nous.domain.errors import Misconfigured
from nous.llm.base import ModelBusy, ModelTimeout
from nous.llm.http_model import HttpModel

CALLS = 200


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(lambda request: f'{{"title":"{request.user}"}}') as server:
        yield server


def ask_all(model: HttpModel) -> list[str]:
    users = [f"number {number}" for number in range(CALLS)]
    with ThreadPoolExecutor(CALLS) as pool:
        return [reply.text for reply in pool.map(model.ask, map(question, users))]


EXPECTED = [f'{{"title":"number {number}"}}' for number in range(CALLS)]


def test_no_more_calls_are_in_flight_than_may_be(server: ModelServer) -> None:
    server.hold(5)
    assert ask_all(remote(server, concurrency=5, deadline=30)) == EXPECTED

    assert server.peak == 5


def test_a_forked_child_asks_over_a_connection_of_its_own(server: ModelServer) -> None:
    model = remote(server)
    model.ask(question("the parent"))
    forking = multiprocessing.get_context("fork")
    answers: Any = forking.SimpleQueue()
    child = forking.Process(target=lambda: answers.put(model.ask(question("the child")).text))
    child.start()
    child.join(timeout=20)

    assert child.exitcode == 0
    assert answers.get() == '{"title":"the child"}'
    assert "the parent, again" in model.ask(question("the parent, again")).text


def test_building_a_model_loads_no_package_of_a_provider() -> None:
    code = """
import sys
from datetime import datetime
from nous.llm.provider import Endpoint
from nous.llm.http_model import HttpModel
HttpModel(Endpoint(provider="ollama", model="m", deadline=1, concurrency=1), clock=datetime.now)
print([name for name in ("openai", "anthropic", "httpx2") if name in sys.modules])
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == "[]"


def test_a_missing_package_is_named_with_the_way_to_get_it(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)

    with pytest.raises(Misconfigured, match=r"the extra nous-bus\[llm\]"):
        remote(server).ask(question())


def test_a_call_waits_for_a_slot_no_longer_than_its_deadline(server: ModelServer) -> None:
    server.hold(CALLS)  # so whoever has the slot keeps it up to its deadline
    model = remote(server, concurrency=1, deadline=2.0)  # within which even a busy machine makes all three
    with ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(model.ask, question()) for _ in range(3)]
        errors = [call.exception() for call in calls]

    assert {type(error) for error in errors} == {ModelTimeout, ModelBusy}
    assert len(server.requests) == sum(isinstance(error, ModelTimeout) for error in errors)
