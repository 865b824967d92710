"""What is looked after beside the work, now and then, whatever is in the way at times."""

import threading
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from builders.answers import SESSION, answer
from builders.buses import WholeBus
from builders.contexts import context_over
from builders.meddled import meddled
from builders.model_world import ModelWorld, outdated_by
from builders.scripted_model import Answer
from builders.stores import WholeStore
from typing_extensions import override

from nous.bus.accounting import GroupCounters
from nous.bus.base import DeliveryRef, Priority, Subscription
from nous.bus.delivery_state import RetryPolicy
from nous.domain.effects import DegradedResult, Effects, RecordResummaryAttempt, SaveEpisode
from nous.domain.episode import Episode, Tier
from nous.domain.errors import Unavailable
from nous.domain.events import EpisodeOutdated, Event, SessionEnded
from nous.domain.scope import Scope
from nous.llm.base import ModelRefused, ModelTimeout, ModelUnreachable
from nous.pipeline.worker import Worker
from nous.runtime.attempt import Attempts, LeaseKeeper
from nous.runtime.maintenance import SessionMaintenanceLoop, StreamTrimmer
from nous.services.session_lifecycle import RecoveryAction
from workers.episode_reviser import WORKER as REVISER


def test_the_direction_of_a_difference_is_told() -> None:
    assert GroupCounters.of({"received": 3, "done": 1}, in_flight=0).why.startswith("2 were received and are nowhere")
    assert GroupCounters.of({"done": 1}, in_flight=2).why.startswith("3 more are accounted for")
    assert GroupCounters.of({"received": 3}, in_flight=3).why == ""


class Finishing:
    """Notes what it is asked for; meets with *troubles* first."""

    def __init__(self, *troubles: Exception) -> None:
        self.troubles = list(troubles)
        self.asked: list[str] = []

    def close(self) -> Iterator[RecoveryAction]:
        return self._asked("close")

    def recover(self) -> Iterator[RecoveryAction]:
        return self._asked("recover")

    def _asked(self, what: str) -> Iterator[RecoveryAction]:
        self.asked.append(what)
        if self.troubles:
            raise self.troubles.pop()
        yield from ()


def tender(finishing: Any, *, recover_every: float = 3600.0) -> SessionMaintenanceLoop:
    return SessionMaintenanceLoop(finishing, interval=0.001, recover_every=recover_every)


def test_what_was_left_lying_is_looked_for_at_once_and_then_seldom() -> None:
    seldom, often = Finishing(), Finishing()
    for post in (tender(seldom), tender(often, recover_every=0.0)):
        post.run_once()
        post.run_once()

    assert seldom.asked == ["close", "recover", "close"]
    assert often.asked == ["close", "recover"] * 2


@pytest.mark.parametrize("trouble", [Unavailable("Redis is away"), ValueError("a defect")])
def test_what_goes_wrong_is_tried_again(trouble: Exception, wait_until: Any) -> None:
    finishing = Finishing(trouble)
    post = tender(finishing)
    thread = threading.Thread(target=post.run)
    thread.start()
    try:
        wait_until(lambda: len(finishing.asked) > 2, "another look", seconds=10)
    finally:
        post.stop()
        thread.join()

    assert finishing.asked[:3] == ["close", "close", "recover"]


SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
DAY = 86400.0


def housekeeper(trimming: Any, *, interval: float = DAY) -> StreamTrimmer:
    return StreamTrimmer(trimming, kinds=[SessionEnded], keep=30 * DAY, interval=interval)


def test_what_is_older_than_it_is_to_stay_goes_from_both_lanes(ended: Any, clock: Any) -> None:
    clock.now = time.time()  # servers give entries their own time
    bus = WholeBus(clock=clock)
    for priority in Priority:
        bus.publish(*(ended(f"{priority} {number}") for number in range(3)), priority=priority)
        for delivery in bus.receive(SUMMARIZER, priority=priority, limit=10, lease=60):
            bus.commit(delivery, Effects())

    clock.now += 29 * DAY
    housekeeper(bus).run_once()
    early = [backlog.length for backlog in bus.backlogs(SUMMARIZER)]
    clock.now += 2 * DAY
    housekeeper(bus).run_once()

    assert early == [3, 3]
    assert [backlog.length for backlog in bus.backlogs(SUMMARIZER)] == [1, 1]


NEWER = "episode-next"
GROWN = f"{SESSION}\n\nUser: And what does staging use?\n\nAssistant: Staging uses port 9018."


def world_of_before() -> ModelWorld:
    """A world with a model, and an episode of before there was one."""
    world = ModelWorld()
    world.use(None)
    world.publish()
    world.work()
    world.use(world.summarizer())
    return world


def world_of_a_newer_prompt() -> ModelWorld:
    """A world with an episode that a model has made, and another prompt."""
    world = ModelWorld()
    world.publish()
    world.work()
    world.use(world.summarizer(version=NEWER))
    return world


def offered(world: ModelWorld) -> int:
    """How many offers were ever made."""
    return sum(each.length for each in world.bus.backlogs(Subscription(REVISER.name, REVISER.consumes)))


def made_by_a_model(episode: Episode) -> Episode:
    return replace(episode, tier=Tier.LLM, edition=episode.edition + 1, model="another", prompt_version="p")


def test_an_episode_that_a_model_makes_while_it_is_offered_is_not_offered() -> None:
    world = world_of_before()
    (episode,) = world.episodes

    def made(_: Effects) -> None:
        world.store.apply([SaveEpisode(episode=made_by_a_model(episode), replaces=episode)])

    assert world.offer(meddled(world.bus, made)) == 0

    assert (list(world.store.unrefined()), offered(world)) == ([], 0)


def tried_in_vain(world: ModelWorld, event: EpisodeOutdated) -> Effects:
    """Return the effects of *event* with a failing model; degraded ones if they are offered."""
    try:
        return REVISER.handler_factory(world.context)(event)
    except DegradedResult as offer:
        return offer.effects


@pytest.mark.parametrize("fate", ["not the form", ModelTimeout("hangs"), ModelRefused("no such model")])
def test_what_was_tried_in_vain_is_noted_of_that_very_edition(fate: Answer) -> None:
    world = world_of_before()
    world.answers = lambda _: fate
    effects = tried_in_vain(world, outdated_by(world, "x"))
    assert any(isinstance(each, RecordResummaryAttempt) for each in effects.writes)
    world.use(None)
    world.publish(text=GROWN)
    world.work()
    (newer,) = world.episodes

    assert world.store.apply(effects.writes) is not None

    assert list(world.store.unrefined(but=("x",))) == [(Scope(), newer.id)]
    assert list(world.store.unrefined(but=("",))) == []


@pytest.mark.parametrize("fate", ["not the form", ModelRefused("no such model")])
def test_an_episode_that_a_model_has_made_is_not_offered_because_another_tried_it_in_vain(fate: Answer) -> None:
    world = world_of_a_newer_prompt()
    world.answers = lambda _: fate

    world.bus.publish(outdated_by(world, f"scripted:model {NEWER}"))
    world.work()

    assert sum(world.account(REVISER.name).skipped.values()) == 1
    assert list(world.store.unrefined()) == []


def test_an_episode_that_a_model_has_made_waits_for_the_next_one_however_long_that_is_out() -> None:
    world = world_of_a_newer_prompt()
    world.answers = lambda _: ModelUnreachable("500")
    world.bus.publish(outdated_by(world, f"scripted:model {NEWER}"))
    world.work(26 * 3600, step=1800)
    account = world.account(REVISER.name)
    assert (account.in_flight, account.dead, account.skipped) == (1, 0, {})

    world.answers = lambda _: answer()
    world.work(3600, step=60)

    (episode,) = world.episodes
    assert (episode.edition, episode.prompt_version) == (2, NEWER)


TOY = Subscription("toy", SessionEnded)
INSTANT = 0.03
"""Seconds of a lease, which is renewed three times in it."""


class Watched(WholeBus):
    """A bus that remembers which leases it was asked to renew."""

    def __init__(self, clock: Any) -> None:
        super().__init__(clock=clock)
        self.renewed: list[list[DeliveryRef]] = []

    @override
    def renew(self, refs: Iterable[DeliveryRef], *, lease: float) -> None:
        self.renewed.append(list(refs))
        super().renew(self.renewed[-1], lease=lease)

    def is_overdue(self) -> bool:
        return bool(self.overdue(TOY, limit=1))


@pytest.fixture
def bus(clock: Any) -> Watched:
    return Watched(clock)


@pytest.fixture
def ref(bus: Watched, ended: Any) -> DeliveryRef:
    """A delivery whose lease has just ended."""
    bus.publish(ended())
    [delivery] = bus.receive(TOY, priority=Priority.LIVE, limit=1, lease=0)
    return delivery.ref


@contextmanager
def keeper(bus: WholeBus, *, deadline: float) -> Generator[LeaseKeeper]:
    keeper = LeaseKeeper(bus, lease=INSTANT, deadline=deadline)
    try:
        yield keeper
    finally:
        keeper.stop()


def test_the_lease_of_what_is_being_handled_is_renewed(
    bus: Watched, ref: DeliveryRef, clock: Any, wait_until: Any
) -> None:
    with keeper(bus, deadline=600) as leases, leases.held(ref):
        wait_until(lambda: not bus.is_overdue(), "the lease to be renewed")
        clock.now += 60
        wait_until(lambda: not bus.is_overdue(), "the lease to be renewed again")


def test_the_lease_of_what_is_not_done_in_its_time_is_left_to_end(
    bus: Watched, ref: DeliveryRef, wait_until: Any
) -> None:
    with keeper(bus, deadline=0) as leases, leases.held(ref):
        wait_until(lambda: len(bus.renewed) >= 3, "three looks at the leases")

    assert not any(bus.renewed)
    assert bus.is_overdue()


def test_the_lease_of_what_is_over_is_renewed_no_more(bus: Watched, ref: DeliveryRef, wait_until: Any) -> None:
    with keeper(bus, deadline=600) as leases:
        with leases.held(ref):
            wait_until(lambda: [ref] in bus.renewed, "the lease to be renewed")
        looks = len(bus.renewed) + 1  # one may be under way
        wait_until(lambda: len(bus.renewed) >= looks + 2, "two more looks at the leases")

    assert not any(bus.renewed[looks:])


def test_an_attempt_holds_its_lease_while_its_handler_runs(
    bus: Watched, ref: DeliveryRef, clock: Any, wait_until: Any
) -> None:
    def handle(_: Event) -> Effects:
        wait_until(lambda: [ref] in bus.renewed, "the lease to be renewed", seconds=10)
        return Effects()

    worker, retry_policy = Worker("toy", SessionEnded, lambda _: handle), RetryPolicy(lease=INSTANT)
    context = context_over(WholeStore(), transcripts=None, clock=clock.date)
    with keeper(bus, deadline=600) as leases:
        attempts = Attempts({"toy": worker}, bus=bus, context=context, retry_policy=retry_policy, leases=leases)

        assert attempts("toy", ref.priority, ref.entry, 1) == "done"


def test_an_attempt_that_hung_and_ends_takes_no_lease_from_the_next_one(
    bus: Watched, ref: DeliveryRef, wait_until: Any
) -> None:
    with keeper(bus, deadline=600) as leases, leases.held(ref):
        with leases.held(ref):
            wait_until(lambda: bus.renewed, "a look at the leases")
        looks = len(bus.renewed) + 1  # one may be under way
        wait_until(lambda: len(bus.renewed) >= looks + 2, "two more looks at the leases")
        later = bus.renewed[looks:]  # read while it is held: another look may come before the keeper has stopped

    assert all(ref in renewed for renewed in later)


def test_whatever_goes_wrong_while_leases_are_renewed_they_are_renewed_again(
    bus: Watched, ref: DeliveryRef, wait_until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    renew, troubles = bus.renew, iter([OSError(24, "too many open files"), Unavailable("gone")])

    def troubled(refs: Iterable[DeliveryRef], *, lease: float) -> None:
        if trouble := next(troubles, None):
            raise trouble
        renew(refs, lease=lease)

    monkeypatch.setattr(bus, "renew", troubled)

    with keeper(bus, deadline=600) as leases, leases.held(ref):
        wait_until(lambda: not bus.is_overdue(), "the lease to be renewed")
