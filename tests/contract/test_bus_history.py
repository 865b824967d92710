"""What a bus keeps of what went wrong with a delivery, asked of each one."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from nous.bus.accounting import EventStatus
from nous.bus.base import DeadLetterKind, DeliveryRef, Subscription
from nous.bus.delivery_state import MOST, AttemptFailure, AttemptOutcome
from nous.domain.effects import Effects
from nous.domain.errors import NotFound
from nous.domain.events import JobDeadLettered, SessionEnded

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
WATCHER = Subscription("watcher", JobDeadLettered)


def fail(world: Any, delivery: Any, attempt: int, text: str = "away") -> Any:
    """Note that an attempt failed; returns the delivery as it stands then."""
    after = replace(delivery.state.failed(text), attempt=attempt)
    attempt_failure = AttemptFailure(
        fate=AttemptOutcome.FAILED, attempt=attempt, text=text, place="workers/toy.py:1 in f"
    )
    world.clock.now += 1
    assert world.bus.compare_and_set_state(
        delivery.ref, before=delivery.state, after=after, lease=60, attempt_failure=attempt_failure
    )
    return replace(delivery, state=after)


def received(world: Any, event: Any) -> Any:
    world.publish(event)
    [delivery] = world.receive()
    return delivery


def test_a_letter_has_what_went_wrong_before_it_and_the_last_of_it(world: Any, ended: Any) -> None:
    delivery = fail(world, fail(world, received(world, ended()), 1), 2)
    last = AttemptFailure(fate=AttemptOutcome.FAILED, attempt=3, text="hopeless")

    world.bus.dead_letter(
        delivery.ref, progress=delivery.state, reason="hopeless", attempt_failure=last, traceback="! X: hopeless"
    )

    [letter] = world.dead.letters()
    assert [(each.attempt, each.text) for each in letter.history] == [(1, "away"), (2, "away"), (3, "hopeless")]
    assert letter.history[0].place == "workers/toy.py:1 in f"
    assert (letter.history[1].at - letter.history[0].at).total_seconds() == 1
    assert letter.traceback == "! X: hopeless"


def test_the_history_is_bounded_and_goes_on_when_a_letter_is_redriven(world: Any, ended: Any) -> None:
    delivery = received(world, ended())
    for attempt in range(1, 2 * MOST):
        delivery = fail(world, delivery, attempt)
    world.bus.dead_letter(delivery.ref, progress=delivery.state, reason="x")
    [letter] = world.dead.letters()
    assert [each.attempt for each in letter.history] == list(range(MOST, 2 * MOST))

    world.dead.redrive(letter, SUMMARIZER)
    world.clock.now += 1
    world.bus.dead_letter(delivery.ref, progress=None, reason="again")

    [again] = world.dead.letters()
    assert again.history[:-1] == letter.history[1:]
    assert (again.history[-1].fate, again.history[-1].attempt) == (AttemptOutcome.REDRIVEN, letter.attempts)


def test_a_delivery_that_is_done_leaves_no_history(world: Any, ended: Any, client: Any) -> None:
    delivery = fail(world, received(world, ended()), 1)

    world.bus.commit(delivery, Effects())

    assert client.keys("t:progress:*") == []


def test_what_is_kept_of_a_pending_delivery_is_read_and_written_by_older_releases(
    world: Any, ended: Any, client: Any
) -> None:
    delivery = fail(world, received(world, ended()), 1)

    [stored] = client.hgetall("t:progress:episode-summarizer").values()

    older = {"attempt": 1, "state": "waiting", "errors": 1, "crashes": 0, "deaths": 0, "reason": "away"}
    assert orjson.loads(stored) == older
    assert stored == orjson.dumps(older) == delivery.state.encode()
    [history] = client.keys("t:progress:episode-summarizer:*")
    assert 0 < client.ttl(history) <= 7 * 24 * 3600


def test_a_letter_of_an_older_release_is_read_and_redriven(world: Any, ended: Any, client: Any) -> None:
    delivery = received(world, ended())
    world.bus.dead_letter(delivery.ref, progress=None, reason="x")
    [(letter_id, fields)] = client.xrange("t:dead")
    known = {b"group", b"kind", b"lane", b"entry", b"grave", b"reason", b"attempts", b"event_id", b"session_id"}
    client.xdel("t:dead", letter_id)
    client.xadd("t:dead", {name: fields[name] for name in known})

    [letter] = world.dead.letters()

    assert known <= fields.keys()
    assert (letter.history, letter.traceback, letter.session_id) == ((), "", "s1")
    assert world.dead.redrive(letter, SUMMARIZER)


def test_that_an_event_is_dead_is_published_once_and_in_the_same_step(world: Any, ended: Any) -> None:
    event = ended()
    delivery = fail(world, received(world, event), 1)

    told = [world.bus.dead_letter(delivery.ref, progress=delivery.state, reason="gave up") for _ in range(2)]

    assert told == [True, False]
    [announced] = [each.event for each in world.receive(subscription=WATCHER)]
    assert world.delivery_stats.counters(WATCHER).received == 1  # nor was it a second time in the stream
    assert (announced.why, announced.caused_by, announced.session_id) == ("gave up", event.id, "s1")
    assert announced.what["worker"] == "episode-summarizer"
    assert announced.counts == {"attempts": 1, "errors": 1, "crashes": 0, "deaths": 0}


def test_what_dies_again_is_another_event_and_what_is_parked_is_none(world: Any, ended: Any) -> None:
    delivery = received(world, ended())
    world.bus.dead_letter(delivery.ref, progress=delivery.state, reason="x")
    world.dead.redrive(world.dead.letters()[0], SUMMARIZER)
    [(ref, progress)] = world.bus.overdue(SUMMARIZER, limit=1)
    after = progress.resubmitted()
    world.bus.compare_and_set_state(ref, before=progress, after=after, lease=60)
    world.bus.dead_letter(ref, progress=after, reason="x")
    world.publish(ended("s2"))
    [parked] = world.receive()
    world.bus.dead_letter(parked.ref, progress=None, reason="x", grave=DeadLetterKind.PARKED)

    assert len({each.event.id for each in world.receive(subscription=WATCHER)}) == 2


def test_who_cannot_take_that_something_is_dead_is_not_told_so_without_end(world: Any, ended: Any) -> None:
    world.bus.dead_letter(received(world, ended()).ref, progress=None, reason="x")
    [told] = world.receive(subscription=WATCHER)

    world.bus.dead_letter(told.ref, progress=told.state, reason="the watcher cannot take it")

    assert world.receive(subscription=WATCHER) == []
    assert (world.delivery_stats.counters(WATCHER).dead, world.delivery_stats.counters(WATCHER).discrepancy) == (1, 0)
    assert [letter.reason for letter in world.dead.letters()] == ["x", "the watcher cannot take it"]


def test_the_event_of_a_letter_can_be_looked_at_as_long_as_it_is_there(world: Any, ended: Any, client: Any) -> None:
    delivery = received(world, ended())
    world.bus.dead_letter(delivery.ref, progress=None, reason="x")
    [letter] = world.dead.letters()

    assert orjson.loads(world.dead.payload(letter))["data"]["session_id"] == "s1"

    client.xdel(f"t:events:{SessionEnded.type}", letter.entry)
    assert world.dead.payload(letter) is None
    with pytest.raises(NotFound, match="no longer in its stream"):
        world.dead.redrive(letter, SUMMARIZER)


def test_what_was_dropped_is_not_taken_for_done(world: Any, ended: Any) -> None:
    event = ended()
    delivery = received(world, event)
    world.bus.dead_letter(delivery.ref, progress=None, reason="hopeless")

    assert [world.dead.drop(world.dead.letters()[0]), world.dead.count()] == [True, 0]

    location = world.delivery_stats.locate(event.id, SUMMARIZER)
    assert (location.where, location.reason) == (EventStatus.SKIPPED, "its letter was dropped; hopeless")
    assert world.account.discrepancy == 0


def test_who_redrives_each_letter_is_not_told_of_what_dies_again_meanwhile(world: Any, ended: Any) -> None:
    world.publish(*(ended(f"s{number}") for number in range(20)))
    for delivery in world.receive(limit=20):
        world.bus.dead_letter(delivery.ref, progress=None, reason="x")

    told: list[str | None] = []
    for letter in world.dead.each():
        told.append(letter.session_id)
        assert world.dead.redrive(letter, SUMMARIZER)
        world.bus.dead_letter(DeliveryRef(SUMMARIZER, letter.priority, letter.entry), progress=None, reason="x")

    assert told == [f"s{number}" for number in range(20)]
    assert world.dead.count() == 20
