import json
from io import BytesIO
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from nous.domain.errors import BadInput
from nous.transcript import UnknownFormat, known_readers, read_transcript, readers
from nous.transcript.detect import HEAD, OPENING, reader_for, reader_named, sample_of
from nous.transcript.io.byte_source import ByteSource

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
"""What chats in a document are called by: the list of messages, who said one, and what."""


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
