"""A move into a scope that others teach and forget meanwhile, on a real server."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from builders.episodes import HOME
from builders.knowing import nothing, taught

from nous.app.container import Container
from nous.app.services import eraser, scope_writer
from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import AppendFacts, Effects
from nous.domain.episode import CandidateFact
from nous.domain.events import FactsUnembedded
from nous.domain.fact import Learned, Row, Superseded, bare
from nous.services.erasure import EraseFact
from nous.services.scope_move import ScopeContent
from nous.store.base import NO_VECTORS

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
