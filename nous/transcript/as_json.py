"""A transcript as one JSON object."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import orjson

from nous.transcript.model import Entry, Transcript


def transcript_as_json(transcript: Transcript) -> bytes:
    """Every field of *transcript*, times in ISO 8601 UTC; of an entry, only the fields that say something."""
    return orjson.dumps(_as_object(transcript), option=orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z, default=str)


def _as_object(transcript: Transcript) -> Mapping[str, Any]:
    return {
        "format": transcript.format,
        "source": transcript.source,
        "digest": transcript.digest,
        "bytes": transcript.bytes,
        "header": transcript.header,
        "started_at": transcript.started_at,
        "ended_at": transcript.ended_at,
        "turns": len(transcript.turns),
        "entries": [_entry(entry) for entry in transcript],
        "skipped": transcript.skipped,
        "problems": transcript.problems,
    }


def _entry(entry: Entry) -> Mapping[str, Any]:
    said = {field.name: getattr(entry, field.name) for field in fields(entry)}
    return {name: value for name, value in said.items() if value is not None and value is not False}
