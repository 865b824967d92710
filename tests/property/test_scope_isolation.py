"""No read in one scope tells of another, whatever the scopes are called, though all were told the same things."""

import inspect
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import combinations, permutations
from pathlib import Path
from typing import Any
from uuid import UUID

import click
import pytest
from builders.command_line import Nous, command_line
from builders.crew import built, data_directory
from builders.neighbours import READS, SESSION, SHARED, Neighbour, forget_all, taught
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from nous.app.container import Container
from nous.bus.redis.keys import BusKeys
from nous.cli import COMMANDS, DEVELOPER_COMMANDS
from nous.domain.fact import Learned, occurrences
from nous.domain.scope import Scope
from nous.llm.state import LlmKeys
from nous.settings.model import PublishSettings, Settings
from nous.store.keys import StoreKeys

MARKERS = ("zebrafinch", "oystercatcher", "wallcreeper")
WORDS = r"a A aa a:b a: :a a%3Ab a%2Fb % %25 * a* ? [a] [^a] {a} a\ ~ .. . default s s:2 - 1 á ß ss"
PARTS = [*WORDS.split(), "a b", " a", "a ", "a\u0301", "\u0430", "\uff41", "\N{BOMB}"]
parts = st.sampled_from(PARTS) | st.text(st.characters(exclude_characters="/"), max_size=5).filter(
    lambda text: text.isprintable() and bool(text.strip())
)
scopes = st.builds(Scope, tenant=parts, agent=parts, project=parts)
alike = st.permutations(PARTS).map(lambda some: [Scope(some[0], "a", "a"), Scope("a", some[0], "a")])
neighbours = st.lists(scopes, min_size=2, max_size=3, unique=True) | alike.filter(lambda two: two[0] != two[1])


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with data_directory() as directory:
        yield directory


@contextmanager
def living(home: Path, called: list[Scope]) -> Generator[tuple[Container, list[Neighbour]]]:
    """A world with these scopes and nothing else."""
    with built(Settings(data_dir=home, embedder="hashed", publish=PublishSettings(inline_limit=50))) as container:
        container.client.flushdb()
        yield container, taught(container, dict(zip(called, MARKERS, strict=False)))


def law(test: Callable[..., None]) -> Callable[..., None]:
    """A property of which each example teaches a server: a few of them are many reads."""
    quiet = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=6, phases=[Phase.generate], deadline=None, suppress_health_check=quiet)(
        given(called=neighbours)(test)
    )


@law
def test_no_read_of_a_scope_tells_of_another(home: Path, called: list[Scope]) -> None:
    with living(home, called) as (container, all_):
        for own, their in permutations(all_, 2):
            for name, read in READS.items():
                told = read(container, own, their)

                assert not their.told_by(told), (name, own.scope, their.scope)
        for own in all_:
            assert own.told_by(READS["Episodes.recent"](container, own, own)) >= {own.marker}


@law
def test_what_is_equal_in_two_scopes_is_known_in_each_by_its_own(home: Path, called: list[Scope]) -> None:
    with living(home, called) as (container, all_):
        for own in all_:
            with container.context.fact_cache.current(
                container.context.facts, own.scope, container.context.embedder
            ) as knowledge:
                known = [each for each in knowledge.current() if each.fact.text == SHARED]

                assert len(known) == 1
                assert {source.episode_id for source in known[0].sources} <= own.ids
                assert own.marker in " ".join(each.fact.text for each in knowledge.current())
        sources = [{source.event_id for _, source, _ in occurrences(_rows(container, own.scope))} for own in all_]
        assert not [True for one, other in combinations(sources, 2) if one & other]


def _rows(container: Container, scope: Scope) -> Any:
    return container.context.facts.read(scope).rows


@law
def test_forgetting_a_scope_leaves_the_others_as_they_were(home: Path, called: list[Scope]) -> None:
    with living(home, called) as (container, (gone, *others)):
        before = _all_read(container, others)
        rehearsed = forget_all(container, gone.scope, dry_run=True)

        assert _all_read(container, [gone])[gone.scope]["Episodes.recent"]
        forgotten = forget_all(container, gone.scope, dry_run=False)

        assert rehearsed.removed["episodes"] == forgotten.removed["episodes"] >= 1
        assert _all_read(container, others) == before
        assert not container.context.episodes.recent(gone.scope)


def _all_read(container: Container, all_: list[Neighbour]) -> dict[Scope, dict[str, str]]:
    counted = {"Episodes.scopes", "Transcripts.read"}  # the first tells of what is forgotten, too
    return {
        own.scope: {name: repr(read(container, own, own)) for name, read in READS.items() if name not in counted}
        for own in all_
    }


@given(one=scopes, other=scopes)
def test_no_two_scopes_share_the_name_of_a_key_nor_its_beginning(one: Scope, other: Scope) -> None:
    if one == other:
        return
    for keys in (StoreKeys("p"), BusKeys("p"), LlmKeys("p")):
        for name, method in inspect.getmembers(keys, inspect.ismethod):
            wanted = inspect.signature(method).parameters
            if name.startswith("_") or "scope" not in wanted or "key" in wanted:
                continue
            first, second = (_keys(method, scope) for scope in (one, other))
            assert not set(first) & set(second), name
            beginnings = [each.removesuffix("*") for each in first if name.endswith(("_of", "answers"))]
            assert not [True for key in second for each in beginnings if key.startswith(each)], name


SAID = {
    "session_id": "s",
    "subject": None,
    "embedder": "m",
    "dim": 3,
    "block": 0,
    "digest": "d",
    "place": "p",
}


def _keys(method: Any, scope: Scope) -> tuple[str, ...]:
    given_: dict[str, Any] = {**SAID, "episode_id": UUID(int=1), "scope": scope}
    found = method(**{name: given_[name] for name in inspect.signature(method).parameters})
    return found if isinstance(found, tuple) else (found,)


READING = {
    "status": ("status", SESSION),
    "episodes": ("episodes",),
    "show": ("show", SESSION),
    "facts": ("facts", "--all"),
    "search": ("search", "which bird lives in the attic, billing"),
    "provenance": ("provenance", "{fact}"),
    "context": ("context", "--about", "billing"),
    "forget": ("forget", "--session", SESSION, "--dry-run"),
    "redact": ("redact", "--dry-run"),
    "sessions": ("sessions",),
    "facts duplicates": ("facts", "duplicates"),
    "facts supersede": ("facts", "supersede", "{fact}", "{fact}"),
    "facts merge": ("facts", "merge", "{fact}", "{fact}"),
    "facts keep-apart": ("facts", "keep-apart", "{fact}", "{fact}"),
    "facts unsettle": ("facts", "unsettle", "{fact}", "{fact}"),
    "facts quarantined": ("facts", "quarantined"),
    "facts approve": ("facts", "approve", "{fact}"),
    "facts drop": ("facts", "drop", "{fact}"),
}
WRITING = {"publish", "watch", "heartbeat", "record-decision", "facts learn", "reprocess"}
SERVING = {"mcp"}  # its tools are tried in tests/integration/test_mcp.py


def _commands(group: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, group
    if isinstance(group, click.Group):
        for inner in group.list_commands(click.Context(group)):
            found = group.get_command(click.Context(group), inner)
            if found:
                yield from _commands(found, f"{name} {inner}")


def test_every_command_that_takes_a_scope_is_tried_here_or_writes() -> None:
    listed = [command for command in (*COMMANDS, *DEVELOPER_COMMANDS) if command.name != "dev"]
    found = [pair for command in listed for pair in _commands(command.load(), command.name)]

    assert {
        name for name, each in found if "scope" in {param.name for param in each.params}
    } == READING.keys() | WRITING | SERVING


def test_no_command_in_a_scope_tells_of_another(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nous: Nous = command_line(home, monkeypatch)
    called = [Scope("a", "b", "c"), Scope("a", "b", "c:d"), Scope("A", "b", "c")]
    with living(home, called) as (container, all_):
        for own, their in permutations(all_, 2):
            facts = [row.fact.id for row in container.context.facts.read(their.scope).rows if isinstance(row, Learned)]
            for command in READING.values():
                words = [word.format(fact=facts[-1]) for word in command]
                result = nous(*words, "--scope", str(own.scope))

                assert their.marker not in result.output, command
                assert their.marker not in result.stderr, command
