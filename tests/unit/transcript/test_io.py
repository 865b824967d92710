"""Bytes to lines to records: R1 and R2."""

import gzip
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from typing import Any

import pytest

from nous.domain.errors import BadInput
from nous.transcript.io import byte_source
from nous.transcript.io.byte_source import LONGEST_LINE, TOO_LONG, ByteSource, ReadPosition, lines
from nous.transcript.io.records import BAD_UTF8, BROKEN, TORN, records
from nous.transcript.model import ReadNotes

CONTENT = b"one\ntwo\n" * 50_000


def read(content: bytes) -> tuple[list[dict[str, Any]], ReadNotes]:
    notes = ReadNotes()
    return [record.value for record in records(BytesIO(content), notes, ReadPosition())], notes


def troubles(notes: ReadNotes) -> list[tuple[int, str]]:
    return [(problem.line, problem.reason) for problem in notes.problems]


@pytest.mark.parametrize(
    "content",
    [
        b'\xef\xbb\xbf{"n":1}\r\n\r\n{"n":2}\r\n{"n":3}\r\n',
        b'\xef\xbb\xbf[{"n":1},\n{"n":2}]\n{"n":3}\n',
        b'{\n  "n": 1\n}\n{"n":2}\n{"n":3}\n',
        b'{"n":1} {"n":2} {"n":3}',
        b'\n\n  {"n":1}\n\t\n{"n":2}\n{"n":3}\n\n',
        b'{"n":1}\n\0\0\0{"n":2}\n{"n":3}\n\0\0\0',
    ],
    ids=range(6),
)
def test_records_are_found_however_they_are_written_down(content: bytes) -> None:
    found, notes = read(content)

    assert found == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert not notes.problems


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"n":1}\nnot json\n{"n":2}\n', [(2, BROKEN)]),
        (b'{"n":1}\n{"text":"\xff\xfe"}\n{"n":2}\n', [(2, BAD_UTF8)]),
        (b'{"n":1}\n{"n":2}\n{"n":3,"te', [(3, TORN)]),
        (b'{"te\n{"n":1}\n{"n":2}\n', [(1, BROKEN)]),
        (b'{"torn":1\n{"n":1}\n{"n":2}\n', [(1, TORN)]),
        (b'[\n {"n":1},\n {"n":2},\n {"n": "th', [(4, TORN)]),
        (b'[\n {"n":1},\n {"bad": tru},\n {"n":2}\n]', [(3, BROKEN)]),
        (b'{"n":1}\n"just text"\n{"n":2}\n', [(2, "not an object")]),
    ],
)
def test_what_cannot_be_read_is_named_by_its_line_and_the_rest_is_read(
    content: bytes, expected: Sequence[tuple[int, str]]
) -> None:
    found, notes = read(content)

    assert found == [{"n": 1}, {"n": 2}]
    assert troubles(notes) == expected


def test_each_record_knows_where_it_begins() -> None:
    content = b'[\n  {"n":1},\n  {"n":2}\n]\n{"n":3}{"n":4}\n'

    found = list(records(BytesIO(content), ReadNotes(), ReadPosition()))

    assert [content[record.offset :].startswith(b'{"n":%d}' % record.value["n"]) for record in found] == [True] * 4
    assert [record.line for record in found] == [2, 3, 5, 5]


def test_a_line_that_is_passed_over_is_not_parsed_but_counted() -> None:
    notes, content = ReadNotes(), BytesIO(b'{"n":1}\n{"noise\n{"n":2}\n')

    found = records(content, notes, ReadPosition(), pass_over=lambda line: "noise" * (b"noise" in line))

    assert [record.value for record in found] == [{"n": 1}, {"n": 2}]
    assert notes.skipped == {"noise": 1}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"cut":"\\ud83d"}\n{"pair":"\\ud83d\\ude00"}', [{"cut": "\ufffd"}, {"pair": "😀"}]),
        (b'{"n":Infinity}', [{"n": float("inf")}]),
        (b'[{"t":"]}\\"["},{"t":"\\\\"}]', [{"t": ']}"['}, {"t": "\\"}]),
    ],
    ids=["lone surrogate", "infinity", "brackets in strings"],
)
def test_what_agents_write_but_simple_parsers_do_not_read_is_read(
    content: bytes, expected: list[dict[str, Any]]
) -> None:
    found, notes = read(content)

    assert (found, notes.problems) == (expected, [])


def test_only_the_first_hundred_problems_are_named_but_all_are_counted() -> None:
    _, notes = read(b'{"n":1}\n' + b"nonsense\n" * 250)

    assert (len(notes.problems), notes.skipped[BROKEN]) == (100, 250)


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"a":' * 100_000 + b'\n{"n":1}\n'])
def test_deep_nesting_is_refused_without_a_crash(content: bytes) -> None:
    _, notes = read(content)

    assert notes.problems


def test_what_stands_inside_of_a_torn_record_is_no_record() -> None:
    for torn in (b'{"n":', b""):
        found, notes = read(b'{"n":1}\n{"input":[{"n":2},{"n":3},' + torn)

        assert found == [{"n": 1}]
        assert troubles(notes) == [(2, TORN)]


@pytest.mark.parametrize("torn", [b"", b",", b',{"n":3', b',{"n":3,"text":"and so'])
def test_a_document_without_its_end_says_what_is_whole(torn: bytes) -> None:
    found, notes = read(b'{"id":"s","messages":[{"n":1},\n{"n":2}' + torn)

    assert found == [{"id": "s", "messages": []}, {"n": 1}, {"n": 2}]
    assert troubles(notes) == [(2, TORN)]


def test_a_line_too_long_for_memory_is_passed_over_and_reading_goes_on() -> None:
    notes = ReadNotes()
    endless = b"x" * (LONGEST_LINE + 5)

    found = list(lines(BytesIO(b"a\n" + endless + b"\nb\n"), notes, ReadPosition()))

    assert found == [(1, 0, b"a\n"), (3, 2 + len(endless) + 1, b"b\n")]
    assert [(problem.line, problem.reason) for problem in notes.problems] == [(2, TOO_LONG)]


def zstandard(content: bytes) -> bytes:
    for name in ("compression.zstd", "backports.zstd"):  # an extra before Python 3.14
        with suppress(ImportError):
            return import_module(name).compress(content)
    return pytest.skip("Zstandard is not installed")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard], ids=["plain", "gzip", "zstandard"])
def test_content_is_unpacked_and_measured_unpacked_up_to_where_it_is_damaged(pack: Callable[[bytes], bytes]) -> None:
    whole = ByteSource.on(BytesIO(pack(CONTENT)))
    begin = whole.buffered().readline()
    whole.drain()

    assert begin == b"one\n"
    assert (whole.length, whole.digest, whole.damage) == (len(CONTENT), sha256(CONTENT).hexdigest(), None)
    if pack is not bytes:
        torn = ByteSource.on(BytesIO(pack(CONTENT)[:-3]))
        assert CONTENT.startswith(torn.buffered().read())
        assert torn.damage is not None


def test_without_the_library_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_source, "_LIBRARIES", ("there.is_no_such",))

    with pytest.raises(BadInput, match=r"nous-bus\[zstd\]"):
        ByteSource.on(BytesIO(byte_source.ZSTANDARD))
