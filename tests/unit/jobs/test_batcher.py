"""Many threads hand in, one carries out."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from nous.jobs.rq.bookkeeping import Batcher


def test_what_many_threads_hand_in_is_carried_out_once_each_and_never_twice_at_once() -> None:
    done: list[int] = []
    at_it: list[int] = []
    most_at_once = 0

    def carry_out(items: Sequence[int]) -> None:
        nonlocal most_at_once
        at_it.append(1)
        most_at_once = max(most_at_once, len(at_it))
        done.extend(items)
        at_it.pop()

    gather = Batcher(carry_out, most=7)
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(gather, range(5000)))

    assert sorted(done) == list(range(5000))
    assert most_at_once == 1


def test_who_finds_somebody_at_it_leaves_his_part_to_him() -> None:
    handfuls: list[list[str]] = []
    is_at_it, go_on = threading.Event(), threading.Event()

    def carry_out(items: Sequence[str]) -> None:
        handfuls.append(list(items))
        is_at_it.set()
        go_on.wait()

    gather = Batcher(carry_out, most=2)
    first = threading.Thread(target=gather, args=("a",))
    first.start()
    is_at_it.wait()
    for late in "bcd":
        gather(late)
    go_on.set()
    first.join()

    assert handfuls == [["a"], ["b", "c"], ["d"]]


def test_a_failure_is_told_to_who_carried_out_and_the_next_go_on() -> None:
    done: list[str] = []

    def carry_out(items: Sequence[str]) -> None:
        if "bad" in items:
            raise ValueError("bad")
        done.extend(items)

    gather = Batcher(carry_out)
    with pytest.raises(ValueError, match="bad"):
        gather("bad")
    gather("good")

    assert done == ["good"]
