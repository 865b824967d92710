"""Forgetting in a large scope that others teach without a pause."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from uuid import UUID

import numpy as np
from builders.fact_rows import HOME, fact_id, learned
from builders.waiting import wait_until

from nous.app.container import Container
from nous.app.services import eraser
from nous.bus.base import Conflict
from nous.domain.effects import AppendFacts, Effects
from nous.domain.fact import Learned
from nous.services.erasure_targets import EraseFact
from nous.store.base import NO_VECTORS

FACTS = 3000
TEACHERS = 2


def teach(container: Container) -> None:
    """Learn many facts at once, each with a vector."""
    texts = [f"Service {number} listens on port {number}" for number in range(FACTS)]
    vectors = {fact_id(text): np.full(384, 1 + at, dtype=np.float32) for at, text in enumerate(texts)}
    expected = container.context.facts.read(HOME, embedder=NO_VECTORS).version
    write = AppendFacts(scope=HOME, expected=expected, rows=tuple(map(learned, texts)), vectors=vectors)
    assert not isinstance(container.bus.apply(Effects(writes=(write,))), Conflict)


class Teacher(threading.Thread):
    """Learns one small fact after the other until it is stopped; *taught* are those that were committed."""

    def __init__(self, container: Container, name: str) -> None:
        super().__init__(name=name)
        self.taught: list[UUID] = []
        self.stopping = threading.Event()
        self._container = container

    def run(self) -> None:
        log = self._container.context.facts
        known = log.read(HOME, embedder=NO_VECTORS).version
        while not self.stopping.is_set():
            row = learned(f"{self.name} likes the number {len(self.taught)}", embedded_by=None)
            write = AppendFacts(scope=HOME, expected=known, rows=(row,))
            if not isinstance(self._container.bus.apply(Effects(writes=(write,))), Conflict):
                self.taught.append(row.fact.id)
            known = log.read(HOME, after=known, embedder=NO_VECTORS).version


@contextmanager
def teaching(container: Container) -> Generator[list[Teacher]]:
    """Teachers that have begun; at the end they have come to theirs."""
    teachers = [Teacher(container, f"teacher {number}") for number in range(TEACHERS)]
    for each in teachers:
        each.start()
    try:
        for each in teachers:
            wait_until(lambda each=each: each.taught, f"{each.name} to begin")
        yield teachers
    finally:
        for each in teachers:
            each.stopping.set()
            each.join()


def test_a_fact_of_a_large_scope_is_forgotten_while_others_teach_it_without_a_pause(container: Container) -> None:
    teach(container)
    forgotten = fact_id("Service 7 listens on port 7")

    with teaching(container) as teachers:
        receipt = eraser(container).erase(EraseFact(scope=HOME, id=forgotten))
        for each in teachers:
            before = len(each.taught)
            wait_until(lambda each=each, before=before: len(each.taught) > before, f"{each.name} to go on")

    left = [row.fact.id for row in container.context.facts.read(HOME).rows if isinstance(row, Learned)]
    taught = [each for teacher in teachers for each in teacher.taught]
    assert receipt.removed["facts"] == 1
    assert forgotten not in left
    assert len(left) == FACTS - 1 + len(taught)
    assert set(taught) <= set(left)
