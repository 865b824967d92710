"""Episodes of sessions that are being forgotten, or were a moment ago, are offered to no model."""

from collections.abc import Callable
from typing import Any

import pytest
from builders.episodes import HOME, NOON, episode
from builders.meddled import meddled

from nous.app.container import Container
from nous.app.services import eraser
from nous.bus.base import Committed
from nous.bus.erasure import Tombstone, session_name
from nous.domain.effects import Effects, SaveEpisode
from nous.domain.summary_input import Segment, SummaryInput
from nous.runtime.maintenance import Resummarizer
from nous.services.erasure import EraseSession

BRIEF = SummaryInput(windows=((Segment("[User] Which port?", "User", 1),),), decisions=())
EPISODE = episode("there")


@pytest.fixture
def offer(container: Container) -> Callable[..., int]:
    """Offers what is extractive, while something *befalls*; there is one episode."""
    saved = SaveEpisode(episode=EPISODE, summary_input=BRIEF)
    assert isinstance(container.bus.apply(Effects(writes=(saved,))), Committed)

    def offer(befalls: Callable[[Effects], object] = lambda _: None) -> int:
        bus, reviser = meddled(container.bus, befalls), container.subscription("episode-reviser")
        told: dict[str, Any] = {
            "context": container.context,
            "bus": bus,
            "delivery_stats": container.delivery_stats,
            "by": "m 1",
        }
        return Resummarizer(reviser, **told, ahead=4, interval=1).offer()

    return offer


def offered(container: Container) -> int:
    """How many offers were ever made."""
    return sum(each.length for each in container.delivery_stats.backlogs(container.subscription("episode-reviser")))


def be_forgetting(container: Container) -> None:
    container.tombstones.put(HOME, [session_name(HOME, "there")], Tombstone(at=NOON))


def test_an_episode_that_is_being_forgotten_is_not_offered_and_not_looked_at_again(
    container: Container, offer: Callable[..., int]
) -> None:
    be_forgetting(container)

    assert offer() == 0

    assert (list(container.context.episodes.unrefined()), offered(container)) == ([], 0)
    assert container.context.episodes.get(HOME, EPISODE.id) == EPISODE


def test_an_episode_that_is_forgotten_while_it_is_offered_leaves_no_trace(
    container: Container, offer: Callable[..., int]
) -> None:
    def forget(_: Effects) -> None:
        if container.context.episodes.get(HOME, EPISODE.id):
            eraser(container).erase(EraseSession(scope=HOME, name="there"))

    assert offer(forget) == 0

    assert (list(container.context.episodes.unrefined()), offered(container)) == ([], 0)
