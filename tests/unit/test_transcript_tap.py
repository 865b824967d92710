import gzip
from hashlib import sha256
from io import BytesIO

from nous.transcript.input.tap import Tap

CONTENT = b"one\ntwo\n" * 50_000


def test_looking_takes_nothing_away() -> None:
    tap = Tap.on(BytesIO(CONTENT))

    assert tap.look(100) == CONTENT[:100]
    assert tap.look(10) == CONTENT[:10]
    assert tap.buffered().read() == CONTENT


def test_length_and_digest_are_those_of_the_whole_even_if_only_a_part_is_read() -> None:
    tap = Tap.on(BytesIO(CONTENT))
    tap.buffered().readline()

    tap.drain()

    assert (tap.length, tap.digest) == (len(CONTENT), sha256(CONTENT).hexdigest())


def test_packed_content_is_unpacked_and_measured_unpacked() -> None:
    tap = Tap.on(BytesIO(gzip.compress(CONTENT)))

    assert tap.buffered().read() == CONTENT
    assert (tap.length, tap.digest) == (len(CONTENT), sha256(CONTENT).hexdigest())


def test_damaged_packed_content_gives_what_stands_before_the_damage() -> None:
    packed = gzip.compress(CONTENT)
    tap = Tap.on(BytesIO(packed[: len(packed) // 2]))

    read = tap.buffered().read()

    assert read
    assert CONTENT.startswith(read)
    assert tap.damage is not None


def test_a_stream_shorter_than_what_is_looked_at_is_read_to_its_end() -> None:
    tap = Tap.on(BytesIO(b"x"))

    assert tap.look(1000) == b"x"
    assert tap.buffered().read() == b"x"
