"""Packing and unpacking of uploaded transcripts, and the names they go by."""

import gzip
import zlib

import pytest

from nous.domain.errors import BadInput
from nous.domain.scope import Scope
from nous.store.keys import StoreKeys
from nous.store.transcript_source import LARGEST, unpacked, upload

TEXT = b"User: hi\n" * 100
GZIPPED = gzip.compress(TEXT, mtime=0)  # it names a test, which has to be called the same in every process


@pytest.mark.parametrize("packed", [GZIPPED, zlib.compress(TEXT)])
def test_gzip_and_zlib_are_unpacked(packed: bytes) -> None:
    assert unpacked(packed) == TEXT


@pytest.mark.parametrize("packed", [b"", TEXT, GZIPPED[:-9]])
def test_what_cannot_be_unpacked_is_refused(packed: bytes) -> None:
    with pytest.raises(BadInput, match=r"cannot be unpacked|torn"):
        unpacked(packed)


def test_an_upload_cannot_become_a_transcript_of_any_size() -> None:
    bomb = gzip.compress(bytes(10_000_000))

    with pytest.raises(BadInput, match="more than 1,000,000 bytes"):
        unpacked(bomb, largest=1_000_000)
    assert len(unpacked(bomb, largest=10_000_000)) == 10_000_000


def test_a_transcript_that_nobody_would_read_is_not_uploaded() -> None:
    class Nowhere:
        def put(self, key: str, packed: bytes) -> None:
            raise AssertionError((key, packed))

        def fetch(self, key: str) -> bytes | None:
            raise AssertionError(key)

    with pytest.raises(BadInput, match="none of more than 268,435,456 can be uploaded"):
        upload(Nowhere(), bytes(LARGEST + 1), keys=StoreKeys(), scope=Scope(), session_id="s")
