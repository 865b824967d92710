"""A row as it stands in the store."""

from datetime import UTC, datetime
from uuid import uuid5

import numpy as np
import pytest

from nous.domain.errors import Misconfigured
from nous.domain.events import NAMESPACE
from nous.domain.fact import Linked
from nous.store.fact_rows import LogEntry, Slot

ONE, OTHER = uuid5(NAMESPACE, "one"), uuid5(NAMESPACE, "other")


def linked(similarity: float | None = None) -> Linked:
    return Linked(
        fact_id=ONE, other=OTHER, reason="a  number", at=datetime(2026, 1, 1, tzinfo=UTC), similarity=similarity
    )


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
