"""Where vectors stand, and how many commands it takes to get them."""

from hypothesis import given
from hypothesis import strategies as st

from nous.store.fact_rows import LONGEST_RUN, VECTORS_PER_BLOCK, Slot, VectorSlot, runs

places = st.builds(
    VectorSlot, st.sampled_from(["a", "b"]), st.builds(Slot, st.integers(4090, 4105), st.sampled_from([2, 3]))
)


@given(st.lists(places))
def test_runs_hold_every_place_in_order_and_side_by_side(wanted: list[VectorSlot]) -> None:
    found = list(runs(wanted))

    assert [place for run in found for place in run] == wanted
    for run in found:
        assert [place.offset for place in run] == [run[0].offset + i * run[0].size for i in range(len(run))]
        assert len({(place.embedder, place.slot.dim, place.block) for place in run}) == 1


def test_a_block_takes_few_commands() -> None:
    block = [VectorSlot("m", Slot(index, 384)) for index in range(VECTORS_PER_BLOCK)]

    assert [len(run) for run in runs(block)] == [LONGEST_RUN] * 4
