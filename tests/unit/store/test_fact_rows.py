"""Rows and vectors as they stand in the store, and what is appended to a log."""

import numpy as np
import pytest
from builders.fact_rows import HOME, NOON, fact_id, learned, unit
from hypothesis import given
from hypothesis import strategies as st

from nous.domain.effects import AppendFacts
from nous.domain.errors import Misconfigured
from nous.domain.fact import Linked, LogVersion, Row
from nous.store.fact_rows import (
    LONGEST_RUN,
    VECTORS_PER_BLOCK,
    Continuation,
    LogEntry,
    Slot,
    VectorSlot,
    continuation,
    runs,
)


def linked(similarity: float | None = None) -> Linked:
    return Linked(fact_id=fact_id("one"), other=fact_id("other"), reason="a  number", at=NOON, similarity=similarity)


def appended(*rows: Row, expected: LogVersion | None = None, vectors: tuple[str, ...] = ()) -> Continuation:
    by_id = {fact_id(text): unit(1) for text in vectors}
    return continuation(AppendFacts(scope=HOME, expected=expected or LogVersion(), rows=rows, vectors=by_id))


@pytest.mark.parametrize("slot", [None, Slot(index=4097, dim=384)])
def test_an_entry_is_read_as_it_was_written(slot: Slot | None) -> None:
    entry = LogEntry.after("0" * 32, linked(0.5), slot)

    assert LogEntry.decode(entry.encode()) == entry
    assert entry.row == linked(0.5)


def test_a_similarity_may_come_from_numpy() -> None:
    entry = LogEntry.after("", linked(np.float32(0.5)), None)  # pyright: ignore[reportArgumentType] (what callers do)

    assert entry.row == linked(0.5)


@pytest.mark.parametrize("raw", [b"", b"junk", b"a b c d", b"a b 1x {}", b"\xff linked - {}"])
def test_what_is_no_entry_is_named_so(raw: bytes) -> None:
    with pytest.raises(Misconfigured, match="not one of its rows"):
        LogEntry.decode(raw)


def test_a_row_of_a_newer_release_is_not_passed_over() -> None:
    entry = LogEntry.decode(b"chain forgotten - {}")

    with pytest.raises(Misconfigured, match="'forgotten': it needs a newer release"):
        _ = entry.row


def test_what_a_newer_release_added_to_a_row_is_ignored() -> None:
    entry = LogEntry.after("", linked(), None)
    richer = LogEntry.decode(entry.encode().replace(b"{", b'{"certainty":1,', 1))

    assert richer.row == linked()


def test_vectors_continue_behind_those_of_the_log() -> None:
    rows = (learned("a"), learned("b", embedded_by=None), learned("c"))

    added = appended(*rows, vectors=("a", "c"), expected=LogVersion(n=10, chain="c", epoch=2, vectors=7))

    assert [place.slot.index for place, _ in added.vectors] == [7, 8]
    assert (added.version.n, added.version.epoch, added.version.vectors) == (13, 2, 9)


def test_the_chain_depends_on_everything_before() -> None:
    rows = (learned("a", embedded_by=None), learned("b", embedded_by=None))
    versions = (appended(*rows), appended(*reversed(rows)), appended(*rows, expected=LogVersion(chain="another")))

    assert len({each.version.chain for each in versions}) == 3


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
