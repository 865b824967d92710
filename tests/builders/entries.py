"""What a transcript says, in a form that is short to compare."""

from collections.abc import Mapping
from typing import Any

import orjson

from nous.transcript import Kind, Transcript, parse_transcript


def said(transcript: Transcript) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in transcript]


def read_lines(name: str, *records: Mapping[str, Any]) -> Transcript:
    """Read JSON lines as the format *name*."""
    return parse_transcript(b"\n".join(map(orjson.dumps, records)), format=name)
