"""Many sessions while their model is out, out of quota, flaky or slow, against everything that is real.

Every request beyond one for each session is explained by a failure that was counted.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from builders.model_fleet import WORKERS, Accounts, ModelFleet, about_its_service
from builders.model_server import ModelServer, Request
from structlog.testing import capture_logs

from nous.cli.output import FAILURES

MANY = [f"svc-{number}" for number in range(30)]
SOME = MANY[:10]

DEADLINE = 2.0
"""Seconds for a call. While one goes first after a pause, the others wait up to twice as long."""

Fleets = Callable[..., ModelFleet]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(about_its_service) as server:
        yield server


@pytest.fixture
def installed(directory: Path, server: ModelServer) -> Iterator[Fleets]:
    """Builds an installation, which is stopped when the test is over."""
    with ExitStack() as stack:

        def build(**settings: Any) -> ModelFleet:
            fleet = ModelFleet(directory, server, **settings)
            stack.callback(fleet.stop)
            return fleet

        yield build


def test_sessions_of_an_outage_that_is_longer_have_an_episode_now_and_a_better_one_later(
    installed: Fleets, server: ModelServer, wait_until: Any
) -> None:
    fleet = installed(llm={"patience": 0.5, "deadline": DEADLINE})
    server.outage = "500"
    fleet.start()
    fleet.publish(*SOME)

    wait_until(lambda: fleet.tiers == ["extractive"] * len(SOME), "episodes that are made without the model")
    wait_until(lambda: fleet.account("episode-reviser").received == len(SOME), "them to be offered to the model")
    assert fleet.tiers == ["extractive"] * len(SOME)
    server.outage = None
    wait_until(lambda: fleet.is_at_rest(len(SOME)), "every episode to be made anew")

    assert [fleet.editions(session) for session in SOME] == [["extractive", "llm"]] * len(SOME)
    assert_all_is_explained(fleet, server, sessions=len(SOME), failure="transport")
    assert {f"service {session} always runs on port {9000 + n}" for n, session in enumerate(SOME)} <= set(fleet.learned)
    assert max(fleet.learned.values()) == 1


def test_a_quota_is_waited_for_and_costs_no_attempt(installed: Fleets, server: ModelServer, wait_until: Any) -> None:
    fleet = installed(worker={"concurrency": 1})  # so that one of them finds out for all
    server.set_faults(["429 retry-after 2"])

    with capture_logs() as lines:
        fleet.start()
        fleet.publish(*SOME)
        wait_until(lambda: fleet.is_at_rest(len(SOME)), "every episode")

    put_off = [line["errors"] for line in lines if line["event"] == "delivery.retry_scheduled"]
    assert set(put_off) == {0}
    assert len(server.requests) == len(SOME) + 1
    assert [fleet.editions(session) for session in SOME] == [["llm"]] * len(SOME)
    assert_all_is_explained(fleet, server, sessions=len(SOME), failure="quota")


def test_two_processes_ask_a_flaky_model_until_it_has_answered_each_prompt_once(
    installed: Fleets, server: ModelServer, tmp_path: Path, wait_until: Any
) -> None:
    fleet = installed(llm={"deadline": 30.0})  # none is too slow, even if the machine is busy
    server.set_faults(every_third("500"))
    logs = [tmp_path / "first.log", tmp_path / "second.log"]
    with ExitStack() as stack:
        processes = [stack.enter_context(worker_process(fleet, log)) for log in logs]
        stack.callback(lambda: [process.terminate() for process in processes])
        wait_until(lambda: fleet.container.client.scard("rq:workers") == 2 * len(WORKERS), "both processes to be there")
        fleet.publish(*MANY)
        wait_until(lambda: fleet.is_at_rest(len(MANY)), "every episode", seconds=60)
        shown = subprocess.run([*NOUS, "status", "--json"], env=fleet.environment, check=True, capture_output=True)

    assert [process.returncode for process in processes] == [0, 0]
    assert [fleet.editions(session) for session in MANY] == [["llm"]] * len(MANY)
    answered = Counter(request.prompt for request in server.requests if request.fault is None)
    assert sorted(answered.values()) == [1] * len(MANY)
    assert_all_is_explained(fleet, server, sessions=len(MANY), failure="transport")
    calls = json.loads(shown.stdout)["model"]["calls"]["openai:test-model"]
    assert (calls["calls"], calls["answered"], calls["other"]) == (len(server.requests), len(MANY), 0)
    failed = [line.get("failure") for log in logs for line in said(log) if line["event"] == "model.call_failed"]
    assert failed == ["transport"] * calls["transport"]
    assert all(any(line["event"] == "delivery.done" for line in said(log)) for log in logs)


NOUS = (sys.executable, "-m", "nous")


def worker_process(fleet: ModelFleet, log: Path) -> "subprocess.Popen[bytes]":
    with log.open("wb") as file:
        return subprocess.Popen([*NOUS, "worker", *WORKERS], env=fleet.environment, stdout=file, stderr=file)


def said(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def every_third(fault: str) -> Callable[[Request], str | None]:
    met: list[Request] = []

    def fault_of(request: Request) -> str | None:
        met.append(request)
        return None if len(met) % 3 else fault

    return fault_of


def assert_all_is_explained(fleet: ModelFleet, server: ModelServer, *, sessions: int, failure: str = "other") -> None:
    """One answer for each session, and no request besides but those that were counted as failures of that kind."""
    calls = fleet.calls
    assert fleet.tiers == ["llm"] * sessions
    assert calls["answered"] == sessions
    assert len(server.requests) == calls["calls"]
    assert {name: calls[name] for name in FAILURES if calls.get(name)} == {failure: calls["calls"] - sessions}
    assert len(server.by_prompt) == sessions
    assert fleet.accounts == Accounts(dead=0, balance=0)
