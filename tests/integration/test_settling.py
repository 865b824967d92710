"""Possible duplicates on a real server: listed, merged, kept apart and taken back through the command line."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from builders.command_line import Nous, command_line
from builders.crew import built, is_at_rest, working
from builders.episodes import HOME, episode
from builders.waiting import wait_until

from nous.app.container import Container
from nous.app.services import producer_of
from nous.bus.base import Bus, Conflict, Priority, Verdict
from nous.bus.redis.keys import BusKeys
from nous.cli.framework import UNAVAILABLE
from nous.cli.lookup import knowledge_of
from nous.domain.effects import AppendFacts, Effects, SaveEpisode
from nous.domain.events import FactsUnembedded
from nous.domain.fact import Linked, LinkKind
from nous.domain.scope import Scope
from nous.services.session_intake import SessionMetadata
from nous.settings.model import Settings, WorkerSettings
from nous.store.keys import StoreKeys

PORT, SHEET, TEA = "The billing service listens on port 9017", "9017 is what billing uses", "Tim drinks tea"
Ids = dict[str, str]


@pytest.fixture
def ids(nous: Nous, container: Container) -> Ids:
    """Three facts by their ids, of which two may be one, and two an old value and a new one."""
    for session, text in (("mon", PORT), ("tue", SHEET), ("wed", TEA)):
        nous("facts", "learn", "--session", session, stdin=json.dumps(text))
    with knowledge_of(container, Scope()) as knowledge:
        found = {known.fact.text: known.fact.id for known in knowledge}
        links = (
            (SHEET, PORT, LinkKind.DUPLICATE, 0.87, "both name 9017"),
            (TEA, PORT, LinkKind.UPDATE, None, "another value"),
        )
        rows = tuple(
            Linked(
                fact_id=found[one],
                other=found[other],
                reason=why,
                at=container.context.clock(),
                kind=kind,
                likelihood=p,
            )
            for one, other, kind, p, why in links
        )
        write = AppendFacts(scope=Scope(), expected=knowledge.version, rows=rows)
    container.bus.apply(Effects(writes=(write,)))
    return {text: str(fact_id) for text, fact_id in found.items()}


def offered(nous: Nous) -> list[tuple[str, str, str]]:
    pairs = json.loads(nous("facts", "duplicates", "--json").stdout)
    return [(each["kind"], each["newer"]["text"], each["older"]["text"]) for each in pairs]


def facts(nous: Nous) -> dict[str, Any]:
    return {each["text"]: each for each in json.loads(nous("facts", "--json").stdout)}


def test_possible_duplicates_are_listed_with_all_that_it_takes_to_settle_them(nous: Nous, ids: Ids) -> None:
    told = nous("facts", "duplicates")
    first = nous("facts", "duplicates", "--limit", "1")

    assert told.stdout.startswith("possible duplicate (likelihood 0.87): both name 9017\n  9017 is what billing uses\n")
    assert "user's words, session mon  " + ids[PORT] in told.stdout
    assert "\npossible update: another value\n" in told.stdout
    assert "may replace" not in first.stdout.partition("possible update")[2]
    assert first.stderr == "nous: there are 2, and these are 1; --limit shows more\n"
    assert offered(nous) == [("duplicate", SHEET, PORT), ("update", TEA, PORT)]
    assert [link["likelihood"] for link in facts(nous)[PORT]["links"]] == [0.87, None]


def test_a_merge_is_told_everywhere_and_taken_back(nous: Nous, ids: Ids) -> None:
    done = nous("facts", "merge", ids[SHEET][:8], ids[PORT][:8], "--because", "one service")
    again = nous("facts", "merge", ids[SHEET], ids[PORT])
    nous("facts", "learn", "--session", "thu", stdin=json.dumps(SHEET))

    assert done.stdout == f"merged: {SHEET}\n  into: {PORT}\n"
    assert (again.stdout, again.exit_code) == (f"already {done.stdout}", 0)
    assert facts(nous).keys() == {PORT, TEA}
    assert facts(nous)[PORT]["times_confirmed"] == 3
    assert f"{SHEET}  (superseded)" in nous("facts", "--all").stdout
    assert f"was merged into {ids[PORT]}: one service (by hand, on " in nous("provenance", ids[SHEET]).stdout
    assert [kind for kind, *_ in offered(nous)] == ["update"]

    back = nous("facts", "unsettle", ids[PORT], ids[SHEET])

    assert back.stdout == f"current again: {SHEET}\n  beside: {PORT}\n"
    assert nous("facts", "unsettle", ids[PORT], ids[SHEET]).stdout.startswith("nothing is settled between: ")
    assert [facts(nous)[text]["times_confirmed"] for text in (PORT, SHEET)] == [1, 2]
    assert offered(nous)[0] == ("duplicate", SHEET, PORT)


def test_the_newer_is_told_as_current_and_the_older_as_earlier(nous: Nous, ids: Ids) -> None:
    assert f'; may replace: "{PORT}")' in nous("context").stdout
    assert f"  may be replaced by: {TEA}  {ids[TEA]}" in nous("facts").stdout
    nous("facts", "supersede", ids[PORT], ids[TEA])

    day = facts(nous)[TEA]["earlier"][0]["until"][:10]
    assert f"  earlier, until {day}: {PORT}  {ids[PORT]}" in nous("facts").stdout
    assert f"  until {day}, then: {TEA}  {ids[TEA]}" in nous("facts", "--all").stdout
    assert f"earlier, until {day}: {PORT}" in nous("search", "Tim tea").stdout
    assert f"until {day}, then: {ids[TEA]}" in nous("search", "billing service port").stdout
    assert f'; until {day}: "{PORT}")' in nous("context").stdout
    told = json.loads(nous("context", "--json").stdout)["facts"]
    assert [each["earlier"]["text"] for each in told if each["earlier"]] == [PORT]


def test_a_scope_that_others_teach_all_the_time_is_given_up_in_the_end(
    nous: Nous, container: Container, ids: Ids, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply: Callable[[Bus, Effects], Verdict] = type(container.bus).apply
    refusals = [3]

    def refusing(bus: Bus, effects: Effects) -> Verdict:
        refusals[0] -= 1
        return apply(bus, effects) if refusals[0] < 0 else Conflict("others were faster")

    monkeypatch.setattr(type(container.bus), "apply", refusing)
    assert nous("facts", "merge", ids[SHEET], ids[PORT]).stdout.startswith("merged")

    refusals[0] = 1000
    assert nous("facts", "unsettle", ids[SHEET], ids[PORT]).exit_code == UNAVAILABLE


def test_a_fact_without_a_vector_that_is_current_again_is_handed_to_workers(
    nous: Nous, container: Container, ids: Ids, monkeypatch: pytest.MonkeyPatch
) -> None:
    nous("facts", "merge", ids[SHEET], ids[PORT])
    stream = BusKeys().stream(FactsUnembedded.type, Priority.LIVE)
    before = container.client.xlen(stream)

    monkeypatch.setenv("NOUS_EMBEDDER", "minilm")
    nous("facts", "unsettle", ids[SHEET], ids[PORT])

    assert container.client.xlen(stream) == before + 1


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
        with working(self.container):
            wait_until(lambda: is_at_rest(self.container), "everything to be at rest", pause=0.1)


@pytest.fixture
def machine(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    nous = command_line(directory, monkeypatch)
    monkeypatch.setenv("NOUS_EMBEDDER", "minilm")
    with built(Settings(data_dir=directory, worker=WorkerSettings(sweep_interval=0.1))) as container:
        yield Machine(container, nous)


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


def waiting(container: Container, scope: Scope = HOME) -> int:
    return len(container.context.episodes.without_vector(scope, embedder=container.context.embedder.id))


def save(container: Container, *sessions: str) -> None:
    for session in sessions:
        container.bus.apply(Effects(writes=(SaveEpisode(episode=episode(session)),)))


def test_episodes_that_have_no_vector_get_one_and_doing_it_again_finds_nothing(
    nous: Nous, container: Container, wait_until: Any
) -> None:
    save(container, *(f"s{number}" for number in range(70)))
    would = nous("reembed", "--dry-run")
    assert would.stdout == f"{HOME}: 70 episodes without a vector by hashed-256 would be queued\n"
    assert waiting(container) == 70

    told = nous("reembed", "--json")
    with working(container):
        wait_until(lambda: not waiting(container), "vectors of all episodes")
    vectors = container.client.hgetall(StoreKeys().episode_vectors(HOME, container.context.embedder.id))

    assert [(row["facts"], row["episodes"], row["handed_over"]) for row in json.loads(told.stdout)] == [(0, 70, True)]
    assert nous("reembed").stdout == "every fact has its vector by hashed-256, and every episode\n"
    assert container.client.hgetall(StoreKeys().episode_vectors(HOME, container.context.embedder.id)) == vectors
    account = container.delivery_stats.counters(container.subscription("episode-embedder"))
    assert (account.received, account.done, account.discrepancy) == (3, 3, 0)
