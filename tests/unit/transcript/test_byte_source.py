import gzip
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from typing import Any

import pytest

from nous.domain.errors import BadInput
from nous.transcript.io import byte_source
from nous.transcript.io.byte_source import ByteSource

CONTENT = b"one\ntwo\n" * 50_000


def test_looking_takes_nothing_away() -> None:
    tap = ByteSource.on(BytesIO(CONTENT))

    assert tap.look(100) == CONTENT[:100]
    assert tap.look(10) == CONTENT[:10]
    assert tap.buffered().read() == CONTENT


def test_length_and_digest_are_those_of_the_whole_even_if_only_a_part_is_read() -> None:
    tap = ByteSource.on(BytesIO(CONTENT))
    tap.buffered().readline()

    tap.drain()

    assert (tap.length, tap.digest) == (len(CONTENT), sha256(CONTENT).hexdigest())


def test_packed_content_is_unpacked_and_measured_unpacked() -> None:
    tap = ByteSource.on(BytesIO(gzip.compress(CONTENT)))

    assert tap.buffered().read() == CONTENT
    assert (tap.length, tap.digest) == (len(CONTENT), sha256(CONTENT).hexdigest())


def test_damaged_packed_content_gives_what_stands_before_the_damage() -> None:
    byte_source = gzip.compress(CONTENT)
    tap = ByteSource.on(BytesIO(byte_source[: len(byte_source) // 2]))

    read = tap.buffered().read()

    assert read
    assert CONTENT.startswith(read)
    assert tap.damage is not None


def test_a_stream_shorter_than_what_is_looked_at_is_read_to_its_end() -> None:
    tap = ByteSource.on(BytesIO(b"x"))

    assert tap.look(1000) == b"x"
    assert tap.buffered().read() == b"x"


@pytest.fixture
def zstandard() -> Any:
    """Python's module for Zstandard, which is an extra before 3.14."""
    try:
        return import_module("compression.zstd")
    except ImportError:
        return pytest.importorskip("backports.zstd")


def test_zstandard_is_unpacked_too_up_to_where_it_is_damaged(zstandard: Any) -> None:
    whole = zstandard.compress(CONTENT)

    tap = ByteSource.on(BytesIO(whole))
    assert tap.buffered().read() == CONTENT
    assert (tap.length, tap.damage) == (len(CONTENT), None)

    torn = ByteSource.on(BytesIO(whole[:-3]))
    assert CONTENT.startswith(torn.buffered().read())
    assert torn.damage is not None


def test_without_the_library_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, zstandard: Any) -> None:
    monkeypatch.setattr(byte_source, "_LIBRARIES", ("there.is_no_such",))

    with pytest.raises(BadInput, match=r"nous\[zstd\]"):
        ByteSource.on(BytesIO(zstandard.compress(b"x")))
