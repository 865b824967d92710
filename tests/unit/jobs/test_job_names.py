"""What installations on one server call their queues and jobs, so that none takes what is another's."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rq.job import JOB_ID_PATTERN

from nous.domain.events import SessionEnded
from nous.jobs.base import JobNames, QueueKind, job_id
from nous.pipeline.worker import Worker

EVENT = UUID(int=7)

prefixes = st.text("aB7._-", min_size=1, max_size=6) | st.just("nous")
workers = st.from_regex(r"[ab7_]+(-[ab7_]+){0,2}", fullmatch=True)


def names_of(prefix: str, worker: str) -> set[str]:
    names = JobNames(prefix)
    return {*(names.own(line.queue(worker)) for line in QueueKind), names.own_id(job_id(worker, EVENT, 1))}


@given(prefixes, prefixes, workers, workers)
def test_no_name_of_one_installation_is_one_of_another(one: str, other: str, its: str, others: str) -> None:
    if one != other:
        assert names_of(one, its) & names_of(other, others) == set()
        assert JobNames(one).own(its) != JobNames(other).own(others)


@given(prefixes, workers)
def test_rq_takes_the_id_of_every_job(prefix: str, worker: str) -> None:
    assert JOB_ID_PATTERN.fullmatch(JobNames(prefix).own_id(job_id(worker, EVENT, 3)))


@given(prefixes, prefixes, workers)
def test_of_a_job_it_is_known_whose_it_is_and_of_which_attempt(one: str, other: str, worker: str) -> None:
    job = JobNames(one).own_id(job_id(worker, EVENT, 3))

    assert JobNames(one).attempt_of(job) == (worker, EVENT)
    assert one == other or JobNames(other).attempt_of(job) is None


@given(prefixes, prefixes, workers)
def test_of_a_worker_it_is_known_whose_queues_it_serves(one: str, other: str, worker: str) -> None:
    queues = [JobNames(one).own(line.queue(worker)) for line in QueueKind]

    assert JobNames(one).owns_any(queues)
    assert one == other or not JobNames(other).owns_any(queues)


@pytest.mark.parametrize("name", ["", "mine--toy", "-toy", "toy-", "two words", "a.b", "toy\n"])
def test_a_worker_has_no_name_that_could_be_anothers_or_that_rq_passes_over(name: str) -> None:
    build: Any = None

    with pytest.raises(ValueError, match="cannot name a worker"):
        Worker(name, SessionEnded, build)
