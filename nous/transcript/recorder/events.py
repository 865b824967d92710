"""Schema and value type of qbit's session events (JSON); read them from a transcript file.

Types of its forks, and fields that newer programs add, are kept unchanged. See https://github.com/qbit-ai/qbit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from nous.text.language import tables
from nous.transcript.io.byte_source import ByteSource, ReadPosition
from nous.transcript.io.records import records
from nous.transcript.load import located, opened
from nous.transcript.model import ReadNotes

STAMP = "_timestamp"
_ENVELOPE = frozenset({"type", STAMP, "seq", "ts"})


_LEFT_OUT_OF_SOURCE = frozenset({"step_name", "step_index"})
"""Fields of a workflow's `source` (who called a tool) that are left out if they are absent."""

EVENT_TYPES = {
    name: {field.rstrip("?~"): field.lstrip("_abcdefghijklmnopqrstuvwxyz") for field in fields.split()}
    for name, fields in tables("nous.transcript.recorder", "events").items()
}


@dataclass(frozen=True, slots=True)
class TranscriptEvent:
    """Something that happened in a session, as the agent reports it.

    `fields` are those of its type, then others. An event of unknown type, or without the fields of its type, is not
    `is_known`; its fields are kept as they are.
    """

    type: str
    fields: Mapping[str, Any]
    is_known: bool = True

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read the event in a JSON object. Never raises."""
        name = value.get("type")
        given = {key: field for key, field in value.items() if key not in _ENVELOPE}
        if not isinstance(name, str) or not name:
            return cls("", {"type": name, **given} if "type" in value else given, is_known=False)
        known = _completed(EVENT_TYPES[name], given) if name in EVENT_TYPES else None
        return cls(name, given if known is None else known, is_known=known is not None)

    def as_json(self) -> dict[str, Any]:
        return {**({"type": self.type} if self.type else {}), **self.fields}


def _completed(shape: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return *given* in the order of *shape*, completed with null; None if a field is missing."""
    if "source" in shape:
        source = given.get("source", {"type": "main"})
        if isinstance(source, dict):
            said = cast("dict[str, Any]", source).items()
            source = {name: value for name, value in said if value is not None or name not in _LEFT_OUT_OF_SOURCE}
        given = {**given, "source": source}
    found: dict[str, Any] = {}
    for name, mark in shape.items():
        value = given.get(name)
        if name not in given and not mark:
            return None
        if value is not None or mark != "~":
            found[name] = value
    return {**found, **{name: value for name, value in given.items() if name not in shape}}


def read_events(source: str | Path | BinaryIO, *, base: Path | str | None = None) -> Iterator[TranscriptEvent]:
    """Yield the events in *source*, a path, an open stream or a session id, in file order.

    Damaged content is skipped. Raises as `read_transcript`.
    """
    if isinstance(source, str | Path):
        with opened(located(source, base=base)) as stream:
            yield from read_events(stream)
        return
    for record in records(ByteSource.on(source).buffered(), ReadNotes(), ReadPosition()):
        yield TranscriptEvent.of(record.value)
