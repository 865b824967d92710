"""Render a transcript for reading in a terminal, or as JSON lines."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import groupby
from textwrap import indent
from typing import Any

import orjson

from nous.transcript.model import Entry, Kind, Transcript, Turn
from nous.transcript.parsing.user_text import without_colour

_INDENT = "    "
_MARKS = {Kind.ERROR: "✗", Kind.DECISION: "◆", Kind.SUB_AGENT: "↳", Kind.SUMMARY: "≡", Kind.SYSTEM: "·"}
_LONGEST_LINE = 160
_SURE = 0.9
_ERROR_LINES = 3
_LONG = 40


def render(transcript: Transcript) -> Iterator[str]:
    """Yield a heading, the turns with one line per tool call, and a footer of skipped content."""
    yield from _heading(transcript)
    for turn in transcript.turns:
        yield ""
        yield from _turn(turn)
    yield ""
    yield from _footer(transcript)


def _heading(transcript: Transcript) -> Iterator[str]:
    header, name, sure = transcript.header, transcript.format, transcript.confidence
    yield header.title or header.session_id or transcript.source or "session"
    read, written = header.input_tokens or 0, header.output_tokens or 0
    turns, entries = sum(turn.number > 0 for turn in transcript.turns), len(transcript.entries)
    facts = (
        name if sure >= _SURE else f"{name} ({sure:.0%} sure)",
        _span(transcript),
        f"{turns} {'turn' if turns == 1 else 'turns'}",
        f"{entries} {'entry' if entries == 1 else 'entries'}",
        header.session_id if header.title else None,
        f"{read:,} tokens in, {written:,} out" if read or written else None,
        *(header.model, header.cwd, header.git_branch),
    )
    yield " · ".join(filter(None, facts))


def _span(transcript: Transcript) -> str:
    start, end = transcript.started_at, transcript.ended_at
    if start is None or end is None:
        return ""
    return f"{start:%F %R} to {end:%F %R} UTC"


def _turn(turn: Turn) -> Iterator[str]:
    begun = next((entry.time for entry in turn.entries if entry.time), None)
    clock = f"  {begun:%H:%M:%S}" if begun else ""
    yield f"[turn {turn.number}]{clock}" if turn.number else "[before the first turn]"
    for (kind, text), same in groupby(turn.entries, key=lambda entry: (entry.kind, entry.text)):
        if kind is Kind.TOOL_CALL:
            times = len(list(same))
            yield f"{_INDENT}→ {_line(text)}{f' x{times}' if times > 1 else ''}"
        elif kind is not Kind.TOOL_RESULT:
            yield from map(_said, same)


def _said(entry: Entry) -> str:
    kind = entry.kind
    if kind is Kind.USER:
        return indent(without_colour(entry.text), "> ", lambda _: True)
    if kind in {Kind.ASSISTANT, Kind.THINKING}:
        return indent(without_colour(entry.text), _INDENT)
    most = _ERROR_LINES if kind is Kind.ERROR else _LONG
    shown = entry.text if kind is Kind.DECISION else _first_lines(entry.text, most)
    return indent(f"{_MARKS.get(kind, '·')} {shown}", _INDENT)


def _first_lines(text: str, most: int) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    rest = len(lines) - most
    return "\n  ".join([*map(_line, lines[:most]), *([f"... {rest} more lines"] if rest > 0 else [])])


def _line(text: str) -> str:
    return text if len(text) <= _LONGEST_LINE else f"{text[: _LONGEST_LINE - 3]}..."


def _footer(transcript: Transcript) -> Iterator[str]:
    kinds = Counter(entry.kind for entry in transcript)
    yield f"read: {', '.join(f'{times} {kind}' for kind, times in kinds.most_common()) or 'nothing'}"
    counted = sorted(transcript.skipped.items(), key=lambda reason: (-reason[1], reason[0]))
    skipped = ", ".join(f"{reason} x{times}" if times > 1 else reason for reason, times in counted)
    yield f"passed over: {skipped or 'nothing'}"
    for problem in transcript.problems:
        yield f"line {problem.line}: {problem.reason}"


def transcript_as_json(transcript: Transcript) -> bytes:
    """Serialize *transcript* as JSON lines without empty fields; times are ISO 8601 in UTC."""
    options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z
    return b"".join(orjson.dumps(line, option=options, default=str) for line in _lines(transcript))


def _lines(transcript: Transcript) -> Iterator[Mapping[str, Any]]:
    source = transcript.source.encode(errors="replace").decode()  # file names may hold bytes that are no UTF-8
    file = {"format": transcript.format, "source": source, "digest": transcript.digest, "bytes": transcript.bytes}
    header = {field.name: getattr(transcript.header, field.name) for field in fields(transcript.header)}
    yield {**file, "header": _stated(header)}
    for entry in transcript:
        yield _stated(entry._asdict())
    yield {"skipped": dict(transcript.skipped), "problems": transcript.problems}


def _stated(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in fields.items() if value is not None and value is not False and value != ()}
