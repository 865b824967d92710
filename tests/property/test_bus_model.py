"""Whatever producers, workers, sweepers and people do in whichever order, a bus does what a few lines of Python say.

`tests/builders/bus_model.py` is those lines, `tests/builders/bus_machine.py` all that may be done.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import fakeredis
import redis
from builders import buses, servers
from builders.bus_machine import BusMachine
from builders.buses import BusWorld
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

Build = Callable[[Any], BusWorld]


def in_memory(clock: Any) -> BusWorld:
    return buses.in_memory(clock)


def on_fake(clock: Any) -> BusWorld:
    return buses.on_redis(fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2), clock)


def on_server(client: redis.Redis) -> Build:
    def build(clock: Any) -> BusWorld:
        client.flushall()
        return buses.on_redis(client, clock)

    return build


def check(clock_of: Callable[[], Any], *builds: Build, share: int = 4) -> None:
    """Take the same steps on each of the buses, and on the model, in one of *share* examples."""

    def build() -> Sequence[BusWorld]:
        # Servers give entries their own time; by the clock of the buses it is later than that.
        clock = clock_of()
        clock.now = time.time() + 1_000_000
        return [each(clock) for each in builds]

    machine = type("Machine", (BusMachine,), {"build": staticmethod(build)})
    few = max(settings().max_examples // share, 1)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=few, stateful_step_count=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        ),
    )


def test_a_bus_in_memory_does_what_the_model_says(clock: Any) -> None:
    check(type(clock), in_memory, share=1)


def test_a_bus_on_a_server_does_what_the_model_says(clock: Any) -> None:
    with servers.running() as url, servers.emptied(url) as client:
        check(type(clock), on_server(client))


def test_a_bus_in_memory_and_one_on_redis_answer_alike(clock: Any) -> None:
    check(type(clock), in_memory, on_fake)
