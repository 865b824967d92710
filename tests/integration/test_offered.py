"""Episodes of sessions that are being forgotten, or were a moment ago, are offered to no model."""

from collections.abc import Callable
from typing import Any

import pytest
from builders.command_line import Nous
from builders.episodes import HOME, NOON, episode
from builders.meddled import meddled

from nous.app import World, forgetter
from nous.bus.base import Committed
from nous.bus.tombstones import Tombstone, session_name
from nous.domain.effects import Effects, SaveEpisode
from nous.domain.summary_input import Brief, Passage
from nous.runtime.maintenance import Upgrader
from nous.services.erasure_targets import Session

BRIEF = Brief(windows=((Passage("[User] Which port?", "User", 1),),), decisions=())
EPISODE = episode("there")


@pytest.fixture
def offer(world: World) -> Callable[..., int]:
    """Offers what is extractive, while something *befalls*; there is one episode."""
    saved = SaveEpisode(episode=EPISODE, brief=BRIEF)
    assert isinstance(world.bus.apply(Effects(writes=(saved,))), Committed)

    def offer(befalls: Callable[[Effects], object] = lambda _: None) -> int:
        bus, reviser = meddled(world.bus, befalls), world.subscription("episode-reviser")
        told: dict[str, Any] = {"kit": world.kit, "bus": bus, "ledger": world.ledger, "by": "m 1"}
        return Upgrader(reviser, **told, ahead=4, interval=1).offer()

    return offer


def offered(world: World) -> int:
    """How many offers were ever made."""
    return sum(each.length for each in world.ledger.backlogs(world.subscription("episode-reviser")))


def be_forgetting(world: World) -> None:
    world.tombstones.put(HOME, [session_name(HOME, "there")], Tombstone(at=NOON))


def test_an_episode_that_is_being_forgotten_is_not_offered_and_not_looked_at_again(
    world: World, offer: Callable[..., int]
) -> None:
    be_forgetting(world)

    assert offer() == 0

    assert (list(world.kit.briefs.unrefined()), offered(world)) == ([], 0)
    assert world.kit.episodes.get(HOME, EPISODE.id) == EPISODE


def test_an_episode_that_is_forgotten_while_it_is_offered_leaves_no_trace(
    world: World, offer: Callable[..., int]
) -> None:
    def forget(_: Effects) -> None:
        if world.kit.episodes.get(HOME, EPISODE.id):
            forgetter(world).forget(Session(scope=HOME, name="there"))

    assert offer(forget) == 0

    assert (list(world.kit.briefs.unrefined()), offered(world)) == ([], 0)


def test_an_episode_that_is_being_forgotten_is_not_made_anew_for_whoever_asks(
    world: World, offer: Callable[..., int], nous: Nous, monkeypatch: pytest.MonkeyPatch
) -> None:
    del offer
    be_forgetting(world)
    monkeypatch.setenv("NOUS_BACKGROUND_MODEL", "ollama:any")

    result = nous("reprocess", "there", "--scope", "home")

    assert "as it is: it was made anew, or forgotten, meanwhile" in result.stdout
    assert offered(world) == 0
