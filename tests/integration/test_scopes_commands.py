"""Scopes on the command line: which directory has which, and the memory of one moves into another."""

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders.command_line import Nous
from builders.crew import is_at_rest, working
from builders.episodes import HOME
from builders.knowing import nothing, taught
from builders.waiting import wait_until

from nous.app.container import Container
from nous.app.services import eraser, scope_writer
from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.cli.framework import BAD_INPUT
from nous.domain.effects import AppendFacts, Effects
from nous.domain.episode import CandidateFact, episode_id
from nous.domain.events import FactsUnembedded
from nous.domain.fact import Learned, Row, Superseded, bare
from nous.domain.scope import Scope
from nous.services.erasure import EraseFact
from nous.services.scope_move import ScopeContent
from nous.store.base import NO_VECTORS

PORTS = "User: Which port does billing use?\n\nAssistant: Service billing listens on port 9017.\n"
COLOURS = "User: Which colour has the logo?\n\nAssistant: The logo of the shop is blue.\n"
OLD, NEW = Scope(project="old"), Scope(project="new")


@pytest.fixture
def published(nous: Nous, container: Container, tmp_path: Path) -> Iterator[None]:
    """Three sessions in the scope `old`, two of which say the same, and one of them in `new`, too."""
    texts = {"ports": PORTS, "again": f"{PORTS}\nUser: Thanks.\n", "colours": COLOURS}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
        nous("publish", tmp_path / f"{name}.txt", "--session", name, "--scope", "old")
    nous("publish", tmp_path / "colours.txt", "--session", "colours", "--scope", "new")
    with at_work(container):
        yield


@contextmanager
def at_work(container: Container) -> Generator[None]:
    with working(container):
        wait_until(lambda: is_at_rest(container), "every session to be processed", pause=0.1)
    yield


def facts(nous: Nous, scope: Scope) -> dict[str, Any]:
    return {each["text"]: each for each in json.loads(nous("facts", "--scope", scope, "--json").stdout)}


@pytest.mark.usefixtures("published")
def test_a_scope_moves_with_its_evidence_and_what_is_there_already_stays_once(nous: Nous, container: Container) -> None:
    before, sources = facts(nous, OLD), container.memory.episodes.recent(OLD)

    assert "would move 3 episodes and 2 facts" in nous("scopes", "move", "old", "new", "--dry-run").stdout
    assert facts(nous, OLD) == before
    moved = nous("scopes", "move", "old", "new", "--yes")

    assert "moved 3 episodes and 2 facts from default/default/old to default/default/new" in moved.stdout
    assert container.memory.episodes.scopes() == [NEW]
    assert {each.id for each in container.memory.episodes.recent(NEW)} == {
        episode_id(NEW, each.session_id) for each in sources
    }
    after = facts(nous, NEW)
    assert after.keys() == before.keys()
    for text, fact in after.items():
        assert fact["times_confirmed"] == before[text]["times_confirmed"]
        why = nous("provenance", fact["id"], "--scope", "new")
        assert why.exit_code == 0
        assert nous("show", fact["source"]["session_id"], "--scope", "new").exit_code == 0


@pytest.mark.usefixtures("published")
def test_a_session_that_was_moved_is_the_same_when_it_is_published_again(
    nous: Nous, container: Container, tmp_path: Path
) -> None:
    nous("scopes", "move", "old", "new", "--yes")
    before = facts(nous, NEW)

    nous("publish", tmp_path / "ports.txt", "--session", "ports", "--scope", "new")
    with at_work(container):
        assert facts(nous, NEW).keys() == before.keys()
        assert len(container.memory.episodes.recent(NEW)) == 3


@pytest.mark.usefixtures("published")
def test_a_scope_that_was_moved_may_come_back(nous: Nous, container: Container) -> None:
    before = facts(nous, OLD).keys()

    nous("scopes", "move", "old", "other", "--yes")
    back = nous("scopes", "move", "other", "old", "--yes")

    assert back.exit_code == 0
    assert facts(nous, OLD).keys() == before
    assert len(container.memory.episodes.recent(OLD)) == 3


@pytest.mark.usefixtures("published")
def test_nothing_is_erased_if_a_session_is_another_there(nous: Nous, container: Container, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text(f"{COLOURS}\nUser: And the shop?\n\nAssistant: The shop is green.\n")
    nous("publish", tmp_path / "more.txt", "--session", "colours", "--scope", "old")
    with at_work(container):
        before = facts(nous, OLD), facts(nous, NEW)

    refused = nous("scopes", "move", "old", "new", "--yes")

    assert refused.exit_code == BAD_INPUT
    assert "session colours has another episode in default/default/new" in refused.stderr
    assert (facts(nous, OLD), facts(nous, NEW)) == before


@pytest.mark.usefixtures("published")
def test_nothing_is_erased_if_a_session_was_forgotten_there(nous: Nous) -> None:
    nous("forget", "--session", "colours", "--scope", "new", "--yes")
    before = facts(nous, OLD)

    refused = nous("scopes", "move", "old", "new", "--yes")

    assert (refused.exit_code, "was forgotten in" in refused.stderr, facts(nous, OLD)) == (BAD_INPUT, True, before)


@pytest.mark.usefixtures("published")
def test_what_cannot_be_moved_is_refused(nous: Nous) -> None:
    for old, new, reason in (
        ("gone", "new", "there is nothing in"),
        ("old", "old", "into itself"),
        ("a/b/c/d", "x", "not a scope"),
    ):
        result = nous("scopes", "move", old, new, "--yes")
        assert (result.exit_code, reason in result.stderr) == (BAD_INPUT, True)


@pytest.mark.usefixtures("published")
def test_scopes_are_listed_with_their_directories(
    nous: Nous, container: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOUS_SCOPE", "")
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (container.settings.data_dir / "context").mkdir()
    (shop / ".nous.toml").write_text('scope = "old"')
    monkeypatch.chdir(shop)
    nous("publish", tmp_path / "ports.txt", "--session", "other")

    listed = nous("scopes")

    [row] = [line for line in listed.stdout.splitlines() if "old" in line]
    assert row.split()[-2:] == [str(OLD), str(shop)]
    assert listed.stderr == f"nous: this directory has the scope {OLD}, by .nous.toml\n"
    rows = {row["scope"]: row["directories"] for row in json.loads(nous("scopes", "--json").stdout)}
    assert rows == {str(OLD): [str(shop)], str(NEW): []}


PORT, OTHER_PORT, TEA = "The API is on port 8080", "The API is on port 8081", "Tim drinks tea"


class Watched:
    """A bus on which something happens before its *nth* commit."""

    def __init__(self, container: Container, nth: int, then: Callable[[], object]) -> None:
        self._bus = container.bus
        self._left = nth
        self._then = then

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)

    def apply(self, effects: Effects) -> object:
        self._left -= 1
        if self._left == 0:
            self._then()
        return self._bus.apply(effects)


def told(*texts: str, session: str = "there") -> Sequence[Row]:
    """The rows by which *texts* were learned, as facts about the API."""
    facts = [CandidateFact(text=text, subject="API") for text in texts]
    found = taught(nothing(), *facts, session=session)
    return [_at_home(bare(row)) for fact_decision in found for row in fact_decision.rows]


def _at_home(row: Row) -> Row:
    return replace(row, fact=replace(row.fact, scope=HOME)) if isinstance(row, Learned) else row


def brought(container: Container, rows: Sequence[Row], nth: int = 0, then: Callable[[], object] = bool) -> int:
    """How many facts *rows* have added to the log of the scope; *then* happens before the *nth* commit."""
    writer = scope_writer(container.replaced(bus=Watched(container, nth, then)))
    return writer.add(ScopeContent(HOME, (), rows))


def log(container: Container) -> Sequence[Row]:
    return container.context.facts.read(HOME, embedder=NO_VECTORS).rows


def append(container: Container, rows: Sequence[Row]) -> None:
    version = container.context.facts.read(HOME, embedder=NO_VECTORS).version
    container.bus.apply(Effects(writes=(AppendFacts(scope=HOME, expected=version, rows=tuple(rows)),)))


def _numbered(row: Learned, number: int) -> Learned:
    text, fact = f"Shelf {number} holds book {number * number}", row.fact
    return replace(row, fact=replace(fact, text=text, id=type(fact.id)(int=number)))


def test_a_move_that_was_cut_off_before_it_asked_for_vectors_asks_when_it_is_run_again(container: Container) -> None:
    rows = told(PORT)
    append(container, rows)

    assert brought(container, rows) == 0

    stream = BusKeys().stream(FactsUnembedded.type, Priority.LIVE)
    assert container.client.xlen(stream) == 1


def test_what_others_teach_meanwhile_stays_and_is_not_doubled(container: Container) -> None:
    both = told(PORT, OTHER_PORT)

    def teach() -> None:
        append(container, [*both[:1], *told(TEA, session="meanwhile")])

    assert brought(container, both, 1, teach) == 1

    assert [row.fact.text for row in log(container) if isinstance(row, Learned)] == [PORT, TEA, OTHER_PORT]
    assert sum(isinstance(row, Superseded) for row in log(container)) == 1


class CutOffError(Exception):
    """The move breaks off."""


@pytest.mark.parametrize("breaks_off", [True, False])
def test_a_fact_that_is_forgotten_between_two_parts_of_a_move_is_quoted_by_no_reason(
    container: Container, *, breaks_off: bool
) -> None:
    one, other, *ties = told(PORT, OTHER_PORT)
    assert isinstance(one, Learned)
    assert isinstance(other, Learned)
    assert "8080" in other.reason
    rows = [one, other, *(_numbered(one, number) for number in range(600)), *ties]

    def befalls() -> None:
        if breaks_off:
            raise CutOffError
        eraser(container).erase(EraseFact(scope=HOME, id=one.fact.id))

    with suppress(CutOffError):
        brought(container, rows, 2, befalls)
    assert len(log(container)) >= 500
    if breaks_off:
        eraser(container).erase(EraseFact(scope=HOME, id=one.fact.id))

    brought(container, rows)

    assert len([row for row in log(container) if isinstance(row, Learned)]) == 601
    assert "8080" not in str(log(container))
