"""A transcript as JSON lines of our own, which the reader `nous` takes back.

The first line introduces the session, each that follows is an entry, and the last says what was passed over.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import orjson

from nous.transcript.model import Origin, Transcript

MARK = "nous_transcript"
"""The key of the first line that tells this format, and holds its version."""

VERSION = 1


def transcript_as_json(transcript: Transcript) -> bytes:
    """The lines of *transcript*, times in ISO 8601 UTC, and only the fields that say something."""
    options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z
    return b"".join(orjson.dumps(line, option=options, default=str) for line in _lines(transcript))


def _lines(transcript: Transcript) -> Iterator[Mapping[str, Any]]:
    origin = Origin(transcript.format, legible(transcript.source), transcript.digest, transcript.bytes)
    header = {field.name: getattr(transcript.header, field.name) for field in fields(transcript.header)}
    yield {MARK: VERSION, "header": {"read_from": origin, **_said(header)}}
    for entry in transcript:
        yield _said(entry._asdict())
    yield {"skipped": dict(transcript.skipped), "problems": transcript.problems}


def legible(name: str) -> str:
    """The *name* of a file as text, whatever bytes it is made of."""
    return name.encode(errors="replace").decode()


def _said(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in fields.items() if value is not None and value is not False and value != ()}
