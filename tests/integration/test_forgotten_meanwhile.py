"""Sessions and texts that are forgotten just before somebody, who has looked whether they are, commits what he says."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from builders.episodes import HOME, episode

from nous.app.container import Container
from nous.app.services import erasable_stores, eraser, scope_writer
from nous.bus.erasure import WasForgotten, session_name
from nous.cli.facts import let_back
from nous.cli.facts import teach as teach_by_hand
from nous.domain.effects import Effects, SaveEpisode
from nous.domain.episode import CandidateFact
from nous.domain.fact import Row, bare
from nous.knowledge.decision import FactDecision
from nous.services.erasure import EraseFact, Eraser, EraseSession, ErasureRequest
from nous.store.base import NO_VECTORS

PORT, TEA = CandidateFact(text="The API is on port 8080"), CandidateFact(text="Tim drinks tea")


class Late:
    """A bus on which something *befalls* just before the first commit."""

    def __init__(self, container: Container, befalls: Callable[[], object]) -> None:
        self._bus = container.bus
        self._befalls = befalls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)

    def apply(self, effects: Effects) -> object:
        befalls, self._befalls = self._befalls, lambda: None
        befalls()
        return self._bus.apply(effects)


def late(container: Container, act: ErasureRequest) -> Container:
    """*world* as somebody has it to whom it happens that *act* is through before his commit."""
    return container.replaced(bus=Late(container, lambda: eraser(container).erase(act)))


def teach(container: Container, session: str, *candidates: CandidateFact) -> Sequence[FactDecision]:
    return teach_by_hand(container, HOME, session, candidates)


def rows(container: Container) -> Sequence[Row]:
    return container.context.facts.read(HOME, embedder=NO_VECTORS).rows


def remember(container: Container, session: str) -> ErasureRequest:
    """Something is known of *session*, which is no fact; how to forget it."""
    known = episode(session)
    container.bus.apply(Effects(writes=(SaveEpisode(episode=known),)))
    return EraseSession(scope=HOME, name=session)


def test_what_is_told_by_hand_does_not_come_after_its_session_was_forgotten(container: Container) -> None:
    act = remember(container, "there")

    with pytest.raises(WasForgotten):
        teach(late(container, act), "there", PORT)

    assert rows(container) == ()


def test_what_is_moved_does_not_come_after_its_session_was_forgotten(container: Container) -> None:
    teach(container, "there", PORT)
    brought = [*map(bare, rows(container))]
    container.client.flushall()
    act = remember(container, "there")

    scope_writer(late(container, act)).add_rows(HOME, brought)

    assert rows(container) == ()


def test_a_moved_episode_does_not_come_after_its_session_was_forgotten(container: Container) -> None:
    known = episode("there")
    teach(container, "there", PORT)

    assert not scope_writer(late(container, EraseSession(scope=HOME, name="there"))).keep(known)

    assert container.context.episodes.get(HOME, known.id) is None


def test_a_moved_episode_comes_without_a_fact_that_was_forgotten_meanwhile(container: Container) -> None:
    [fact_decision] = teach(container, "there", PORT)
    known = replace(episode("other"), candidate_facts=(PORT, TEA))

    assert scope_writer(late(container, EraseFact(scope=HOME, id=fact_decision.fact.id))).keep(known)

    kept = container.context.episodes.get(HOME, known.id)
    assert kept
    assert kept.candidate_facts == (TEA,)


@pytest.mark.parametrize("what", ["session", "fact"])
def test_what_is_let_back_while_forgetting_comes_to_its_end_is_let_back(container: Container, what: str) -> None:
    [fact_decision] = teach(container, "there", PORT)
    act: ErasureRequest = (
        EraseSession(scope=HOME, name="there") if what == "session" else EraseFact(scope=HOME, id=fact_decision.fact.id)
    )
    told: list[UUID] = []

    def lets_back(_: object) -> None:
        told.extend(each.fact.id for each in _told_again(container))

    Eraser(erasable_stores(container), clock=container.context.clock, on_rewritten=lets_back).erase(act)

    assert told
    assert teach(container, "there", TEA)
    assert container.tombstones.find(HOME, session_name(HOME, "there")) is None
    assert not container.context.suppressed(HOME)


def _told_again(container: Container) -> Sequence[FactDecision]:
    """The fact, told by the same session, as who lets both back does."""
    let_back(container, HOME, "there", [PORT])
    return teach(container, "there", PORT)
