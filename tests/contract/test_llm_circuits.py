"""What outages promise: on fakeredis, on a real server, and with every command sent twice."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import fakeredis
import pytest
from builders.llm_stores import KEYS, KINDS, Books, each_kind

from nous.llm.base import Failure
from nous.llm.state import GLANCE, CircuitStore, OpenCircuit

P, Q = "openai", "ollama: Köln"
PROBE = 20.0
QUESTION = "a digest"


@pytest.fixture(params=KINDS)
def books(request: pytest.FixtureRequest, clock: Any) -> Iterator[Books]:
    yield from each_kind(request, clock)


@dataclass
class World:
    """Outages, told and asked in seconds from now."""

    outages: CircuitStore
    clock: Any

    def fails(self, failure: Failure = Failure.TRANSPORT, *, until: float | None = None) -> float | None:
        given_date = None if until is None else self.clock.date() + timedelta(seconds=until)
        return self._seconds(self.outages.record_failure(P, failure, until=given_date))

    def enter(self) -> float | None:
        return self._seconds(self.outages.admit(P, probe=PROBE))

    def waits(self, seconds: float) -> None:
        self.clock.now += seconds

    def lengths(self, failure: Failure, times: int) -> list[float | None]:
        """How long the pauses are when each call after a pause fails."""
        found: list[float | None] = []
        for _ in range(times):
            found.append(self.fails(failure))
            self.waits(found[-1] or 0)
            self.enter()
        return found

    def _seconds(self, pause: OpenCircuit | None) -> float | None:
        return None if pause is None else (pause.until - self.clock.date()).total_seconds()


@pytest.fixture
def world(books: Books) -> World:
    return World(books.circuits, books.clock)


@pytest.mark.parametrize(
    ("failure", "lengths"),
    [
        (Failure.TRANSPORT, [1, 2, 4, 8, 16, 32, 60, 60]),
        (Failure.QUOTA, [30, 60, 120, 240, 480, 900, 900]),
        (Failure.TIMEOUT, [None, None, 1, 2, 4]),
    ],
)
def test_pauses_double_up_to_a_limit(failure: Failure, lengths: list[float | None], world: World) -> None:
    assert world.lengths(failure, len(lengths)) == lengths


def test_failures_that_made_no_pause_keep_nobody_waiting_and_a_success_ends_their_row(world: World) -> None:
    world.lengths(Failure.TIMEOUT, 2)
    assert [world.enter(), world.enter()] == [None, None]
    world.outages.record_success(P)

    assert world.lengths(Failure.TIMEOUT, 3) == [None, None, 1]


def test_a_time_that_was_given_wins_but_not_for_longer_than_a_day(world: World) -> None:
    assert world.fails(Failure.QUOTA, until=0.5) == 0.5
    world.waits(0.5)
    world.enter()

    assert world.fails(Failure.QUOTA, until=1e7) == 24 * 3600


@pytest.mark.parametrize("given", [0, 3600])
def test_a_time_that_was_given_and_is_over_counts_for_nothing(given: float, world: World) -> None:
    if given:
        world.fails(Failure.QUOTA, until=given)
        world.waits(given)
        world.enter()

    assert world.fails(Failure.QUOTA, until=0) == 30


def test_failures_of_calls_that_began_before_the_pause_do_not_make_it_longer(world: World) -> None:
    world.fails()
    world.waits(0.25)

    assert [world.fails(), world.fails(Failure.TIMEOUT), world.fails(Failure.QUOTA)] == [0.75, 0.75, 0.75]
    assert world.outages.current()[P].failures == 1
    assert world.outages.current()[P].failure is Failure.TRANSPORT


def test_a_later_time_that_is_given_in_a_pause_makes_it_longer(world: World) -> None:
    world.fails()

    assert [world.fails(Failure.QUOTA, until=0.5), world.fails(Failure.QUOTA, until=90)] == [1, 90]
    assert world.enter() == 90
    assert world.outages.current()[P].failure is Failure.QUOTA


def test_after_a_pause_one_call_goes_first_and_the_others_wait_for_it(world: World) -> None:
    world.fails()
    in_pause = world.enter()
    world.waits(1)

    assert [in_pause, world.enter(), world.enter()] == [1, None, GLANCE]
    world.waits(5)
    assert world.enter() == GLANCE


def test_a_probe_that_is_not_heard_of_again_is_replaced(world: World) -> None:
    world.fails()
    world.waits(1)
    world.enter()
    world.waits(PROBE)

    assert [world.enter(), world.enter()] == [None, GLANCE]


def test_a_probe_whose_failure_makes_no_pause_makes_way_for_the_next(world: World) -> None:
    world.fails()
    world.waits(1)
    world.enter()

    assert world.fails(Failure.TIMEOUT) is None  # the second failure in a row
    assert [world.enter(), world.enter()] == [None, GLANCE]


def test_a_probe_that_is_put_back_goes_to_the_next_and_lifts_no_pause(world: World) -> None:
    world.fails()
    before = world.outages.current()
    world.outages.release_probe(P)
    assert world.enter() == 1
    world.waits(1)
    assert world.enter() is None

    world.outages.release_probe(P)

    assert [world.enter(), world.enter()] == [None, GLANCE]
    assert world.outages.current() == before


def test_a_success_ends_the_pause_and_what_led_to_it(world: World) -> None:
    world.lengths(Failure.TRANSPORT, 4)
    world.outages.record_success(P)

    assert [world.enter(), world.enter()] == [None, None]
    assert world.outages.current() == {}
    assert world.fails() == 1


def test_of_many_that_enter_after_a_pause_one_is_the_probe(world: World) -> None:
    world.fails()
    world.waits(1)

    with ThreadPoolExecutor(max_workers=8) as pool:
        entered = [future.result() for future in [pool.submit(world.enter) for _ in range(40)]]

    assert sorted(entered, key=lambda seconds: seconds or 0) == [None, *[GLANCE] * 39]


def test_of_many_that_fail_at_once_one_makes_the_pause(world: World) -> None:
    with ThreadPoolExecutor(max_workers=8) as pool:
        found = [future.result() for future in [pool.submit(world.fails) for _ in range(40)]]

    assert found == [1] * 40
    assert world.outages.current()[P].failures == 1


def test_current_tells_since_when_and_what_it_was_last(world: World) -> None:
    began = world.clock.date()
    world.outages.record_failure(Q, Failure.TIMEOUT)
    world.lengths(Failure.TRANSPORT, 2)
    world.fails(Failure.QUOTA)

    quota = OpenCircuit(until=began + timedelta(seconds=1 + 2 + 30), since=began, failure=Failure.QUOTA, failures=3)
    none_yet = OpenCircuit(until=began, since=began, failure=Failure.TIMEOUT, failures=1)
    assert world.outages.current() == {P: quota, Q: none_yet}


def test_failures_are_counted_by_question_and_provider(world: World) -> None:
    pairs = [(P, QUESTION), (P, QUESTION), (Q, QUESTION), (P, "another"), (P, QUESTION)]

    assert [world.outages.count_failure(*pair) for pair in pairs] == [1, 2, 1, 1, 3]


def test_outages_outlive_the_longest_pause_and_questions_are_forgotten_after_a_week(books: Books, world: World) -> None:
    world.fails(until=1e7)
    world.outages.count_failure(P, QUESTION)

    assert books.client.ttl(KEYS.outages) == pytest.approx(2 * 86400, abs=60)
    assert books.client.ttl(KEYS.failing(P, QUESTION)) == pytest.approx(7 * 86400, abs=60)


class Recording(fakeredis.FakeRedis):
    """Remembers the last command it sent."""

    last: tuple[Any, ...] = ()

    def execute_command(self, *args: Any, **options: Any) -> Any:
        self.last = args
        return super().execute_command(*args, **options)


def test_a_failure_that_is_sent_again_after_its_pause_is_counted_once(clock: Any) -> None:
    client = Recording(server=fakeredis.FakeServer(), protocol=2)
    outages = CircuitStore(client, KEYS, clock=clock)
    outages.record_failure(P, Failure.TRANSPORT)

    client.execute_command(*client.last[:-1], repr(clock.now + 10))

    assert outages.current()[P].failures == 1
