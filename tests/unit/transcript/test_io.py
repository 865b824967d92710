"""Bytes to lines to records: R1 and R2."""

import gzip
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from nous.domain.errors import BadInput
from nous.transcript import UnknownFormat, known_readers, read_transcript, readers
from nous.transcript.detect import HEAD, OPENING, reader_for, reader_named, sample_of
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


CLAUDE = b'{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}\n'


def sniffed(content: bytes) -> str:
    return reader_for(sample_of(ByteSource.on(BytesIO(content)))).reader.format


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (CLAUDE, "claude_code"),
        (b'{"type":"summary","summary":"x","leafUuid":"l"}\n' + CLAUDE, "claude_code"),
        (b'{"type":"file-history-snapshot","messageId":"m","snapshot":{}}\n' + CLAUDE, "claude_code"),
        (b'[{"_timestamp":"2026-01-01T00:00:00Z","type":"started","turn_id":"t"}]', "qbit"),
        (b'{"_timestamp":1770078313595,"type":"user_message","content":"x"}\n', "qbit"),
        (b'{"_timestamp":1,"type":"of_next_year"}\n{"_timestamp":2,"type":"too"}\n', "qbit"),
        (b'{"role":"user","content":"x"}\n{"role":"assistant","content":null,"tool_calls":[]}\n', "openai_chat"),
        (b'{"system":"be kind","messages":[{"role":"user","content":"x"}]}', "anthropic_messages"),
        (b'user: hi\nassistant: None\ntool: {"a": 1}\n', "plain_text"),
        (b"Some words without any label.\n", "plain_text"),
    ],
)
def test_a_format_is_told_from_the_content(content: bytes, expected: str) -> None:
    assert sniffed(content) == expected


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 50, "binary data"),
        (b'{"type":"of_next_year","body":{}}\n', "type, body, of type of_next_year"),
        (b'{"name":"a package","version":"1.0.0","scripts":{"test":"x"}}', "name, version, scripts"),
        (b"{}\n", "it holds JSON objects without keys$"),
        (b"{ this is no JSON", "damaged JSON that begins"),
    ],
)
def test_an_unknown_format_is_refused_with_what_was_seen(content: bytes, seen: str) -> None:
    with pytest.raises(UnknownFormat, match=seen):
        sniffed(content)


@pytest.mark.parametrize("begins", [b"x", b"{", b"[{"])
def test_a_file_that_is_one_endless_line_is_refused(begins: bytes) -> None:
    with pytest.raises(UnknownFormat, match="line longer than 32 MiB"):
        sniffed(begins + b"x" * 40_000_000)


def test_a_pretty_document_longer_than_the_usual_head_is_looked_at_whole() -> None:
    lines = b",\n".join([b'  {"role": "user", "content": "words"}'] * 10_000)

    assert sniffed(b'{\n "messages": [\n' + lines + b"\n ]\n}\n") == "openai_chat"
    assert sniffed(b'[\n {"role": "user",\n  "content": "' + b"x" * 100_000 + b'"\n }\n]\n') == "openai_chat"


LONG = {"openai_chat": ("messages", "role", "content"), "sharegpt": ("conversations", "from", "value")}
"""Keys of a chat in a document: the list of messages, and the speaker and text of each."""


def long_from_the_start(kind: str, length: int) -> dict[str, Any]:
    """A session of that *kind* whose first message has so many characters."""
    held, who, what = LONG[kind]
    said = [{who: "system", what: "x" * length}, {who: "user", what: "hi"}, {who: "assistant", what: "ho"}]
    return {"id": "s1", held: said}


@pytest.mark.parametrize("length", [HEAD - 100, HEAD, 5_000_000])
@pytest.mark.parametrize("kind", LONG)
def test_a_session_is_told_though_its_first_message_is_longer_than_the_usual_head(kind: str, length: int) -> None:
    session = long_from_the_start(kind, length)

    assert sniffed(json.dumps(session).encode()) == kind
    assert sniffed(json.dumps(session, indent=1).encode()) == kind
    assert sniffed(b"\n".join([json.dumps(session).encode()] * 2)) == kind


@pytest.mark.parametrize(
    ("content", "looked_at"),
    [(b'{"messages": [' + b'{"odd": "one"}, ' * 1_000_000, OPENING), (b'{"odd": "one"}\n' * 100_000, HEAD)],
    ids=["endless document", "whole records"],
)
def test_no_more_is_looked_at_than_says_what_it_is(content: bytes, looked_at: int) -> None:
    stream = BytesIO(content)

    with pytest.raises(UnknownFormat, match="with the keys odd"):
        reader_for(sample_of(ByteSource.on(stream)))

    assert stream.tell() == looked_at


@pytest.mark.parametrize("name", ["claude_code", "Claude-Code"])
def test_a_format_can_be_named(name: str) -> None:
    assert reader_named(name).format == "claude_code"
    with pytest.raises(BadInput, match="claude_code"):
        reader_named("lotus-123")


def test_a_reader_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy_reader_of_a_test.py").write_text(
        dedent("""
            from dataclasses import dataclass

            from nous.transcript.reader import Draft, FormatReader, LineReading
            from nous.transcript.model import Kind

            @dataclass(slots=True)
            class ToyReading(LineReading):
                def entries(self, line):
                    return (Draft(Kind.USER, line.data.decode().strip(), str(line.number)),)

            READER = FormatReader("toy", lambda sample: float(sample.text.startswith("TOY")), ToyReading)
        """)
    )
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path)])

    transcript = read_transcript(BytesIO(b"TOY\nhello\n"))

    assert "toy" in known_readers()
    assert (transcript.format, transcript.confidence) == ("toy", 1.0)
    assert [entry.text for entry in transcript] == ["TOY", "hello"]
