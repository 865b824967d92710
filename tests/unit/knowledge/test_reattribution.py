"""Which fact takes whose place, and what finding out costs."""

from collections.abc import Iterator

from builders.fact_rows import learned, superseded
from builders.steps import calls

from nous.domain.fact import Row
from nous.knowledge.reattribution import places, reattribute, settle


def test_a_chain_of_four_times_as_many_facts_takes_about_four_times_as_many_steps() -> None:
    short, long = (calls(lambda length=length: replaced(length)) for length in (200, 800))

    assert long < 6 * short


def replaced(length: int) -> None:
    told = reattribute(chain(length))
    settle(told, lambda _, __: True)
    assert len(list(places(told))) == length - 1


def chain(length: int) -> Iterator[Row]:
    """Facts of which each gives way to the next."""
    for at in range(length):
        yield learned(f"port {at}")
        if at:
            yield superseded(f"port {at - 1}", by=f"port {at}")
