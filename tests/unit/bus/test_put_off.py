"""A delivery that is put off for days, as while a model is out: what is kept of it does not grow with that."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import fakeredis
import pytest

from nous.bus.base import Subscription
from nous.bus.delivery_state import MOST, AttemptOutcome
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.dead_letters import RedisDeadLetterQueue
from nous.domain.effects import Effects
from nous.domain.errors import Deferred
from nous.domain.events import SessionEnded

TOY = Subscription("toy", SessionEnded)
FEW = 2 * MOST
SLACK = 64
"""Bytes by which larger numbers may make it longer: of the attempt, and of each mishap's."""

Kept = tuple[Any, Any, Callable[[], int]]


@pytest.fixture
def in_memory(runtime: Any) -> Kept:
    """A runtime, its letters, and how many bytes are kept of how far it has come."""
    return runtime, runtime.bus, lambda: sum(len(each.encode()) for _, each in runtime.bus.overdue(TOY, limit=9))


@pytest.fixture
def on_redis(runtime: Any, clock: Any) -> Kept:
    """The same, with all that the server keeps."""
    client: Any = fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)
    bus = RedisBus(client, plan_of=lambda _: CommitPlan(), clock=clock)
    letters = RedisDeadLetterQueue(client, clock=clock)
    return type(runtime)(clock, bus), letters, lambda: sum(len(client.dump(key)) for key in list(client.scan_iter()))


def put_off(runtime: Any, times: int) -> None:
    """Have the delivery tried, and put off, so many times; each time with another, long reason."""

    def is_out(_: Any) -> Effects:
        until = runtime.clock.date() + timedelta(minutes=5)
        raise Deferred(f"the model is out at {runtime.clock.now}: {'it gave no answer, ' * 40}", until=until)

    runtime.toy.behave = is_out
    for _ in range(times):
        runtime.sweeper.sweep()
        runtime.run()
        runtime.jobs.submitted.clear()
        runtime.later(301)


@pytest.mark.parametrize(("kept", "times"), [("in_memory", 2000), ("on_redis", 1000)])
def test_what_is_kept_of_a_delivery_is_bounded_however_often_it_is_put_off(
    kept: str, times: int, request: pytest.FixtureRequest, ended: Any
) -> None:
    runtime, letters, size = request.getfixturevalue(kept)
    runtime.bus.publish(ended())
    runtime.dispatcher.dispatch()
    put_off(runtime, FEW)
    before = size()

    put_off(runtime, times)

    assert before - SLACK <= size() <= before + SLACK
    assert len(runtime.toy.seen) == FEW + times
    [(ref, progress)] = runtime.bus.overdue(TOY, limit=9)
    assert (progress.attempt, progress.errors, progress.crashes) == (FEW + times, 0, 0)
    assert runtime.bus.dead_letter(ref, progress=progress, reason="enough")
    [letter] = letters.letters()
    assert [each.fate for each in letter.history] == [AttemptOutcome.PUT_OFF] * MOST
