"""Sessions and texts that are forgotten just before somebody, who has looked whether they are, commits what he says."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from builders.episodes import HOME, episode

from nous.app import World, forgetter
from nous.app.services import stores_of
from nous.bus.tombstones import WasForgotten, session_name
from nous.cli.export_import import keep
from nous.cli.import_ import Importer
from nous.cli.learn import Teacher
from nous.domain.effects import Effects, SaveEpisode
from nous.domain.episode import CandidateFact
from nous.domain.fact import Row
from nous.facts.decision import Finding
from nous.services.erasure import Forgetter
from nous.services.erasure_targets import Act, Known, Session
from nous.store.base import NO_VECTORS
from nous.store.export_format import exported

PORT, TEA = CandidateFact(text="The API is on port 8080"), CandidateFact(text="Tim drinks tea")


class Late:
    """A bus on which something *befalls* just before the first commit."""

    def __init__(self, world: World, befalls: Callable[[], object]) -> None:
        self._bus = world.bus
        self._befalls = befalls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)

    def apply(self, effects: Effects) -> object:
        befalls, self._befalls = self._befalls, lambda: None
        befalls()
        return self._bus.apply(effects)


def late(world: World, act: Act) -> World:
    """*world* as somebody has it to whom it happens that *act* is through before his commit."""
    return replace(world, bus=Late(world, lambda: forgetter(world).forget(act)))  # pyright: ignore[reportArgumentType]


def teach(world: World, session: str, *candidates: CandidateFact) -> Sequence[Finding]:
    return Teacher(world, HOME, session).teach(candidates)


def rows(world: World) -> Sequence[Row]:
    return world.kit.facts.read(HOME, embedder=NO_VECTORS).rows


def remember(world: World, session: str) -> Act:
    """Something is known of *session*, which is no fact; how to forget it."""
    known = episode(session)
    world.bus.apply(Effects(writes=(SaveEpisode(episode=known),)))
    return Session(scope=HOME, name=session)


def test_what_is_told_by_hand_does_not_come_after_its_session_was_forgotten(world: World) -> None:
    act = remember(world, "there")

    with pytest.raises(WasForgotten):
        teach(late(world, act), "there", PORT)

    assert rows(world) == ()


def test_what_is_imported_does_not_come_after_its_session_was_forgotten(world: World) -> None:
    teach(world, "there", PORT)
    brought = [*exported(rows(world))]
    world.client.flushall()
    act = remember(world, "there")

    Importer(late(world, act), HOME, brought).run()

    assert rows(world) == ()


def test_an_imported_episode_does_not_come_after_its_session_was_forgotten(world: World) -> None:
    known = episode("there")
    teach(world, "there", PORT)

    assert not keep(late(world, Session(scope=HOME, name="there")), known)

    assert world.kit.episodes.get(HOME, known.id) is None


def test_an_imported_episode_comes_without_a_fact_that_was_forgotten_meanwhile(world: World) -> None:
    [finding] = teach(world, "there", PORT)
    known = replace(episode("other"), candidate_facts=(PORT, TEA))

    assert keep(late(world, Known(scope=HOME, id=finding.fact.id)), known)

    kept = world.kit.episodes.get(HOME, known.id)
    assert kept
    assert kept.candidate_facts == (TEA,)


@pytest.mark.parametrize("what", ["session", "fact"])
def test_what_is_let_back_while_forgetting_comes_to_its_end_is_let_back(world: World, what: str) -> None:
    [finding] = teach(world, "there", PORT)
    act: Act = Session(scope=HOME, name="there") if what == "session" else Known(scope=HOME, id=finding.fact.id)
    told: list[UUID] = []

    def lets_back(_: object) -> None:
        told.extend(each.fact.id for each in _told_again(world))

    Forgetter(stores_of(world), clock=world.kit.clock, on_rewritten=lets_back).forget(act)

    assert told
    assert teach(world, "there", TEA)
    assert world.tombstones.find(HOME, session_name(HOME, "there")) is None
    assert not world.kit.forgotten(HOME)


def _told_again(world: World) -> Sequence[Finding]:
    """The fact, told by the same session, as who lets both back does."""
    teacher = Teacher(world, HOME, "there")
    teacher.let_back([PORT])
    return teacher.teach([PORT])
