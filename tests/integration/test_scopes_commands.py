"""Scopes on the command line: which directory has which, and the memory of one moves into another."""

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders.command_line import Nous
from builders.crew import is_at_rest, working
from builders.waiting import wait_until

from nous.app.container import Container
from nous.cli.framework import BAD_INPUT
from nous.domain.episode import episode_id
from nous.domain.scope import Scope
from nous.services.scope_move import content_for, storing

PORTS = "User: Which port does billing use?\n\nAssistant: Service billing listens on port 9017.\n"
COLOURS = "User: Which colour has the logo?\n\nAssistant: The logo of the shop is blue.\n"
OLD, NEW = Scope(project="old"), Scope(project="new")


@pytest.fixture
def published(nous: Nous, container: Container, tmp_path: Path) -> Iterator[None]:
    """Three sessions in the scope `old`, two of which say the same."""
    texts = {"ports": PORTS, "again": f"{PORTS}\nUser: Thanks.\n", "colours": COLOURS}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
        nous("publish", tmp_path / f"{name}.txt", "--session", name, "--scope", "old")
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
def test_a_scope_moves_with_its_evidence(nous: Nous, container: Container) -> None:
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
def test_a_move_that_broke_off_before_the_scope_was_erased_is_finished(nous: Nous, container: Container) -> None:
    before = facts(nous, OLD).keys()
    moved = storing(content_for(container.memory, OLD, NEW), container.memory, at=container.clock())
    container.bus.apply(moved)
    with at_work(container):
        again = nous("scopes", "move", "old", "new", "--yes")

    assert again.exit_code == 0
    assert container.memory.episodes.scopes() == [NEW]
    assert facts(nous, NEW).keys() == before


@pytest.mark.usefixtures("published")
def test_nothing_is_erased_if_the_other_scope_has_facts(nous: Nous, container: Container, tmp_path: Path) -> None:
    nous("publish", tmp_path / "colours.txt", "--session", "colours", "--scope", "new")
    with at_work(container):
        before = facts(nous, OLD), facts(nous, NEW)

    for how in ("--yes", "--dry-run"):
        refused = nous("scopes", "move", "old", "new", how)
        assert (refused.exit_code, "new has facts of its own" in refused.stderr) == (BAD_INPUT, True)
    assert (facts(nous, OLD), facts(nous, NEW)) == before


@pytest.mark.usefixtures("published")
def test_nothing_is_erased_if_a_session_was_forgotten_there(nous: Nous, container: Container, tmp_path: Path) -> None:
    nous("publish", tmp_path / "colours.txt", "--session", "colours", "--scope", "new")
    with at_work(container):
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
    assert rows == {str(OLD): [str(shop)]}
