"""What outages promise of probes that came to nothing, and of questions that failed, asked of each implementation."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from builders.llm_stores import KEYS, KINDS, Books, each_kind

from nous.llm.base import Failure
from nous.llm.state import CallCounts, failed_again

P, QUESTION, PROBE = "ollama: Köln", "a digest", 20.0
ONCE = failed_again(None, CallCounts(2**40, 3))


@pytest.fixture(params=KINDS)
def books(request: pytest.FixtureRequest, clock: Any) -> Iterator[Books]:
    yield from each_kind(request, clock)


def test_a_probe_that_is_put_back_goes_to_the_next(books: Books) -> None:
    books.outages.record_failure(P, Failure.TRANSPORT)
    books.clock.now += 1
    before = books.outages.current()
    assert books.outages.admit(P, probe=PROBE) is None
    assert books.outages.admit(P, probe=PROBE) is not None

    books.outages.release_probe(P)

    assert books.outages.admit(P, probe=PROBE) is None
    assert books.outages.admit(P, probe=PROBE) is not None
    assert books.outages.current() == before


def test_putting_back_lifts_no_pause(books: Books) -> None:
    books.outages.record_failure(P, Failure.QUOTA, until=books.clock.date() + timedelta(hours=1))
    before = books.outages.current()

    books.outages.release_probe(P)

    assert books.outages.admit(P, probe=PROBE) == before[P]


def test_putting_back_where_nothing_has_failed_changes_nothing(books: Books) -> None:
    books.outages.release_probe(P)

    assert books.outages.current() == {}


def test_what_is_known_of_a_question_is_found_by_question_and_provider(books: Books) -> None:
    books.outages.note_failing(P, QUESTION, ONCE)
    assert books.outages.failing(P, QUESTION) == ONCE
    assert books.outages.failing("openai", QUESTION) is None
    assert books.outages.failing(P, "another") is None

    again = failed_again(ONCE, CallCounts(2**40 + 1, 4))
    books.outages.note_failing(P, QUESTION, again)

    assert books.outages.failing(P, QUESTION) == again


def test_what_is_known_of_a_question_is_forgotten_after_a_week(books: Books) -> None:
    if books.client is None:
        pytest.skip("in memory nothing is forgotten")
    books.outages.note_failing(P, QUESTION, ONCE)

    assert books.client.ttl(KEYS.failing(P, QUESTION)) == pytest.approx(7 * 86400, abs=60)
