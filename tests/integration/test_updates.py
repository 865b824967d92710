"""A later statement about the same thing becomes the current one, through published sessions and without a model."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from builders.command_line import Nous, command_line
from builders.waiting import wait_until

from nous.app.container import Container, build
from nous.app.services import producer_of
from nous.app.worker_process import worker_process
from nous.domain.scope import Scope
from nous.services.session_intake import SessionMetadata
from nous.settings.model import Settings, WorkerSettings


def said(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}, {"role": "assistant", "content": "Understood, I keep to that."}]


def ran(command: str) -> list[dict[str, Any]]:
    """A session that tests with *command*."""
    call = {"name": "bash", "arguments": json.dumps({"command": command})}
    return [
        {"role": "user", "content": "Do the tests still pass after the last change?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": "c1", "content": "12 passed"},
        {"role": "assistant", "content": "They pass."},
    ]


UPDATES: dict[str, tuple[list[list[dict[str, Any]]], str, str]] = {
    "port": ([said("Always use port 9017 from now on."), said("Always use port 9018 from now on.")], "9018", "9017"),
    "indent": (
        [said("I prefer tabs over spaces."), said("I prefer spaces over tabs.")],
        "prefers spaces over tabs",
        "prefers tabs over spaces",
    ),
    "mind": (
        [said("I prefer tabs over spaces."), said("I have changed my mind, I prefer spaces.")],
        "prefers spaces",
        "prefers tabs over spaces",
    ),
    "push": (
        [said("Never push to main without a review."), said("You may push to main from now on.")],
        "You may push to main",
        "Never push to main",
    ),
    "helm": ([said("We use Helm 3.12 for deployments."), said("We use Helm 3.14 for deployments.")], "3.14", "3.12"),
    "tests": ([ran("mise run test"), ran("make test")], "make test", "mise run test"),
}


@dataclass(frozen=True)
class Machine:
    """An installation with every worker and the embedder that comes along."""

    container: Container
    nous: Nous

    def publish(self, scope: str, number: int, messages: list[dict[str, Any]]) -> None:
        about = SessionMetadata(scope=Scope(project=scope), session_id=f"s{number}")
        list(producer_of(self.container).publish(messages, about))

    def settle(self) -> None:
        crew = worker_process(self.container, sorted(self.container.workers), open_quarantine=lambda _: None)
        crew.start()
        try:
            wait_until(self._is_at_rest, "everything to be at rest", pause=0.1)
        finally:
            crew.stop()
            crew.wait()

    def _is_at_rest(self) -> bool:
        delivery_stats = self.container.delivery_stats
        backlogs = [each for name in self.container.subscriptions for each in delivery_stats.backlogs(name)]
        return not any(backlog.pending or backlog.waiting for backlog in backlogs)


@pytest.fixture
def machine(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    nous = command_line(directory, monkeypatch)
    monkeypatch.setenv("NOUS_EMBEDDER", "minilm")
    container = build(Settings(data_dir=directory, worker=WorkerSettings(sweep_interval=0.1)))
    try:
        yield Machine(container, nous)
    finally:
        for client in (container.client, container.rq_client):
            client.connection_pool.disconnect()


def test_facts_search_and_context_show_the_later_statement_as_current_and_the_earlier_one_as_earlier(
    machine: Machine,
) -> None:
    for scope, (sessions, _, _) in UPDATES.items():
        machine.publish(scope, 1, sessions[0])
    machine.settle()
    for scope, (sessions, _, _) in UPDATES.items():
        machine.publish(scope, 2, sessions[1])
    machine.settle()

    for scope, (_, newer, older) in UPDATES.items():
        facts = json.loads(machine.nous("facts", "--all", "--json", "--scope", scope).stdout)
        (now,) = [fact for fact in facts if newer in fact["text"]]
        (then,) = [fact for fact in facts if older in fact["text"]]
        assert (now["current"], then["current"]) == (True, False), scope
        assert then["superseded"]["by"] == now["id"], scope
        assert then["superseded"]["valid_to"], scope
        assert [row["fact_id"] for row in now["replaces"]] == [then["id"]], scope

        listed = machine.nous("facts", "--scope", scope).stdout
        assert listed.index(newer) < listed.index(older), scope
        context = machine.nous("context", "--scope", scope).stdout
        assert newer in context, scope
        found = machine.nous("search", newer, "--scope", scope).stdout
        assert newer in found, scope


def test_of_two_values_in_one_session_the_later_turn_is_current(machine: Machine) -> None:
    first, second = "We use Helm 3.12 on the cluster", "No, we must use Helm 3.14 on the cluster"
    machine.publish("within", 1, [*said(first), *said(second)])
    machine.settle()

    facts = json.loads(machine.nous("facts", "--json", "--scope", "within").stdout)

    assert [fact["text"] for fact in facts] == ["We must use Helm 3.14 on the cluster"]
