"""Processes that teach the same at once, in one scope and in many, and under them a server that loses its last writes.

`RACE_PROCESSES=8 RACE_TWINS=1500 RACE_EMBEDDER=minilm pytest -s tests/chaos/test_learning_race.py` is the large size.
"""

import multiprocessing
import os
import random
import shutil
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from builders.knowing import said_twice, twins
from builders.waiting import wait_until
from chaos.teach import Session, teach

from nous.app.container import Container, build
from nous.domain.fact import Row
from nous.domain.scope import Scope
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.normalize import exact_form
from nous.redis_server import data_dir, embedded
from nous.redis_server.data_dir import locate
from nous.settings.model import DedupSettings, Settings

PROCESSES = int(os.environ.get("RACE_PROCESSES", "4"))
TWINS = int(os.environ.get("RACE_TWINS", "120"))
EMBEDDER = os.environ.get("RACE_EMBEDDER", "hashed")
CUTS = int(os.environ.get("RACE_CUTS", "2"))
SEED = int(os.environ.get("RACE_SEED", "7"))
IN_A_SESSION = 6

pytestmark = pytest.mark.chaos


def sessions(scopes: int) -> list[Session]:
    """All twins, shuffled, in sessions of one scope each; the two of a pair are told in the same scope."""
    drawn = random.Random(SEED)
    told: dict[str, list[str]] = {f"race-{number}": [] for number in range(scopes)}
    for number in range(TWINS // 2):
        told[f"race-{number % scopes}"] += twins(number)
    found: list[Session] = []
    for scope, texts in told.items():
        drawn.shuffle(texts)
        parts = [tuple(texts[at : at + IN_A_SESSION]) for at in range(0, len(texts), IN_A_SESSION)]
        found += [Session(f"{scope}/{number}", scope, part) for number, part in enumerate(parts)]
    drawn.shuffle(found)
    return found


class Race:
    """Processes that teach shares of *told* against the server of *directory*."""

    def __init__(self, directory: Path, told: Sequence[Session]) -> None:
        # Words alone are further apart than their sense.
        near = 0.8 if EMBEDDER == "minilm" else 0.6
        self.directory = directory
        self.told = told
        self.settings = Settings(data_dir=directory, embedder=EMBEDDER, dedup=DedupSettings(near=near))
        self.container: Container = build(self.settings)

    def run(self, cuts: int = 0) -> Counter[str]:
        """Run to the end; the texts that the server had taken and lost again, by how often."""
        held: Counter[str] = Counter()
        drawn = random.Random(SEED)
        forking = multiprocessing.get_context("forkserver")  # of a process that has imported it all, and has no thread
        forking.set_forkserver_preload(["nous.app.container", "nous.pipeline.fact_learner", "pytest"])
        shares = [self.told[number::PROCESSES] for number in range(PROCESSES)]
        processes = [forking.Process(target=teach, args=(self.settings, share)) for share in shares]
        for process in processes:
            process.start()
        for number in range(1, cuts + 1):
            wait_until(lambda part=number / (cuts + 1): self._known() >= part * TWINS / 2, "facts", seconds=300)
            held += self._lose_power(drawn.randrange(200, 20_000))
        for process in processes:
            process.join(300)
            assert process.exitcode == 0
        return held

    def _known(self) -> int:
        return sum(
            self.container.context.facts.read(Scope.parse(scope)).version.n for scope in {s.scope for s in self.told}
        )

    def _lose_power(self, length: int) -> Counter[str]:
        """Kill the server and cut *length* bytes off its log, as if they had not reached the disk."""
        place = locate(self.directory)
        with data_dir.held(place.election, within=60):
            os.kill(int(place.pid.read_text()), signal.SIGKILL)
            wait_until(lambda: not data_dir.is_held(place.alive), "the server's end")
            before = self._logs()
            [tail] = sorted((place.home / "appendonlydir").glob("*.incr.aof"))[-1:]
            os.truncate(tail, max(tail.stat().st_size - length, 0))
            after = self._logs()
        for scope, rows in after.items():
            assert before[scope][: len(rows)] == rows, f"{scope} lost more than its tail"
        return Counter(
            text for scope, rows in before.items() for row in rows[len(after[scope]) :] for text in _texts(row)
        )

    def _logs(self) -> dict[str, tuple[Row, ...]]:
        """The logs as they stand on the disk, read by a server of their own."""
        with TemporaryDirectory(prefix="nous-") as name:
            home = Path(name) / "redis"
            home.mkdir(mode=0o700)
            shutil.copytree(locate(self.directory).home / "appendonlydir", home / "appendonlydir")
            try:
                facts = build(self.settings.model_copy(update={"data_dir": Path(name)})).context.facts
                return {scope: facts.read(Scope.parse(scope)).rows for scope in {each.scope for each in self.told}}
            finally:
                embedded.stop(Path(name))

    def knowledge(self) -> Iterator[tuple[str, FactIndex]]:
        for scope in sorted({each.scope for each in self.told}):
            context = self.container.context
            with context.fact_cache.current(context.facts, Scope.parse(scope), context.embedder) as knowledge:
                yield scope, knowledge


def _texts(row: Row) -> Iterator[str]:
    said: Any = getattr(row, "fact", row)
    if text := getattr(said, "text", None):
        yield text


def outcome(race: Race) -> Mapping[str, Any]:
    """What is wrong in the end: facts that stand twice, texts that nobody knows, and counts that are off."""
    tellers: dict[tuple[str, str], set[str]] = {}
    for told in race.told:
        for text in told.texts:
            tellers.setdefault((told.scope, text), set()).add(told.session)
    slipped, lost, off, kept = 0, list[str](), 0, 0
    for scope, knowledge in race.knowledge():
        embedder = race.container.context.embedder
        policy = race.container.context.policy.for_embedder(embedder.id)
        slipped += len(said_twice(knowledge, embedder, policy))
        kept += sum(1 for _ in knowledge.current())
        for number in {
            int(text.split("service-")[1].split()[0].strip(":")) for where, text in tellers if where == scope
        }:
            pair = twins(number)
            expected = set[str]().union(*(tellers[scope, text] for text in pair))
            lines = [knowledge.revisions(exact_form(text)) for text in pair]
            lost += [text for text, line in zip(pair, lines, strict=True) if not line]
            off += any(line and line[-1].times_confirmed != len(expected) for line in lines)
    return {"kept": kept, "slipped": slipped, "lost": lost, "counts off": off}


@pytest.mark.parametrize("scopes", [1, 64])
def test_at_once_nothing_is_stored_twice_nothing_is_lost_and_every_source_counts(directory: Path, scopes: int) -> None:
    race = Race(directory, sessions(scopes))

    race.run()

    found = outcome(race)
    print(f"\n{PROCESSES} processes, {TWINS} twins, {scopes} scopes, {EMBEDDER}: {found}")
    assert found == {"kept": TWINS // 2, "slipped": 0, "lost": [], "counts off": 0}


def test_a_server_that_loses_its_last_writes_costs_those_alone(directory: Path) -> None:
    race = Race(directory, sessions(4))

    held = race.run(cuts=CUTS)

    found = outcome(race)
    print(f"\n{CUTS} power cuts, {sum(held.values())} tellings in the cut tails, {EMBEDDER}: {found}")
    assert found["slipped"] == 0
    assert set(found["lost"]) <= set(held)
