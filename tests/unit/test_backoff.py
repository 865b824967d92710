"""Backoff and log sampling of a task that keeps failing."""

from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from nous.backoff import RetryBackoff
from nous.domain.errors import Retryable, Unavailable


def test_the_same_failure_is_told_ever_more_rarely() -> None:
    retry_backoff = RetryBackoff()

    told = [
        number for number in range(1, 20) if retry_backoff.record_failure(Unavailable(f"no writing: command {number}"))
    ]

    assert told == [1, 2, 4, 8, 16]


def test_another_failure_is_told_at_once() -> None:
    retry_backoff = RetryBackoff()
    for _ in range(3):
        retry_backoff.record_failure(Unavailable("no writing"))

    assert retry_backoff.record_failure(Unavailable("no answer"))
    assert retry_backoff.record_failure(Retryable("no answer"))


def test_when_it_went_well_the_count_begins_anew() -> None:
    retry_backoff = RetryBackoff()
    for _ in range(5):
        retry_backoff.record_failure(Unavailable("no writing"))

    assert [retry_backoff.reset(), retry_backoff.reset()] == [5, 0]
    assert retry_backoff.record_failure(Unavailable("no writing"))
    assert retry_backoff.wait <= 1


@given(st.integers(1, 2000))
def test_the_wait_doubles_up_to_a_limit(failures: int) -> None:
    retry_backoff = RetryBackoff()
    for _ in range(failures):
        retry_backoff.record_failure(Unavailable("no writing"))

    longest = min(8, 2 ** (failures - 1))
    assert longest / 2 <= retry_backoff.wait <= longest


def test_a_task_outlives_its_errors_which_are_logged_with_a_traceback_only_where_they_are_unexpected() -> None:
    retry_backoff = RetryBackoff("toy")

    with capture_logs() as logs:
        for error in (Unavailable("no answer"), KeyError("x"), None):
            with retry_backoff.guard():
                if error:
                    raise error

    assert [(line["event"], "exc_info" in line) for line in logs] == [
        ("task.retry_scheduled", False),
        ("task.error", True),
        ("task.recovered", False),
    ]
    assert retry_backoff.wait == 0
