"""What goes wrong again and again."""

from hypothesis import given
from hypothesis import strategies as st

from nous.backoff import Setbacks
from nous.domain.errors import Retryable, Unavailable


def test_the_same_failure_is_told_ever_more_rarely() -> None:
    setbacks = Setbacks()

    told = [number for number in range(1, 20) if setbacks.met(Unavailable(f"no writing: command {number}"))]

    assert told == [1, 2, 4, 8, 16]


def test_another_failure_is_told_at_once() -> None:
    setbacks = Setbacks()
    for _ in range(3):
        setbacks.met(Unavailable("no writing"))

    assert setbacks.met(Unavailable("no answer"))
    assert setbacks.met(Retryable("no answer"))


def test_when_it_went_well_the_count_begins_anew() -> None:
    setbacks = Setbacks()
    for _ in range(5):
        setbacks.met(Unavailable("no writing"))

    assert [setbacks.over(), setbacks.over()] == [5, 0]
    assert setbacks.met(Unavailable("no writing"))
    assert setbacks.wait <= 1


@given(st.integers(1, 2000))
def test_the_wait_doubles_up_to_a_limit(failures: int) -> None:
    setbacks = Setbacks()
    for _ in range(failures):
        setbacks.met(Unavailable("no writing"))

    longest = min(8, 2 ** (failures - 1))
    assert longest / 2 <= setbacks.wait <= longest
