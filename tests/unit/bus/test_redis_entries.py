"""Streams are read in pages that fit into memory, by commands that anybody may run who looks at a server."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Self

from hypothesis import given
from hypothesis import strategies as st

from nous.bus.redis.streams import entries

LARGE = 4 << 20
ENOUGH = 16 << 20

sizes = st.lists(st.sampled_from([0, 10, LARGE]), max_size=60)


class Stream:
    """Answers as a server does, of entries of these *sizes*, and counts the bytes of each page."""

    def __init__(self, sizes: list[int]) -> None:
        self.page = [(f"{number}-0".encode(), size) for number, size in enumerate(sizes, start=1)]
        self.pages: list[list[int]] = []

    def xrange(self, name: str, after: str, last: str, *, count: int) -> list[tuple[bytes, dict[bytes, Any]]]:
        assert (name, last) == ("stream", "+")
        start = 0 if after == "-" else int(after.removeprefix("(").partition("-")[0])
        found = self.page[start : start + count]
        self.pages.append([size for _, size in found])
        return [(entry, {b"event": Sized(size)}) for entry, size in found]


class Sized(bytes):
    """Stands for so many bytes, without having them."""

    def __new__(cls, size: int) -> Self:
        return super().__new__(cls, str(size).encode())

    def __len__(self) -> int:
        return int(self)


def read(stream: Stream) -> Iterator[tuple[str, int]]:
    return ((entry, len(event)) for entry, event in entries(stream, "stream"))


@given(sizes)
def test_every_entry_is_read_once_and_behind_what_is_large_a_page_holds_no_more_than_fits(sizes: list[int]) -> None:
    stream = Stream(sizes)

    assert list(read(stream)) == [(f"{number}-0", size) for number, size in enumerate(sizes, start=1)]
    assert all(sum(page) <= ENOUGH for before, page in pairwise(stream.pages) if LARGE in before)
