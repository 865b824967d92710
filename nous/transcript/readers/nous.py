"""Parse nous's own JSON export (`nous dev transcript PATH --json`) back into entries."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Header, Kind, Origin, Problem
from nous.transcript.parsing.fields import count_at, object_at, objects_at, text_at
from nous.transcript.parsing.values import as_count, as_list, as_object, as_text, parse_time
from nous.transcript.reader import Draft, FormatReader, RecordReading, Sample

MARK = "nous_transcript"  # key of the first line that identifies this format; its value is the version
VERSION = 1

_KINDS = {kind.value: kind for kind in Kind}
_TEXTS = frozenset(field.name for field in fields(Header)) - {"input_tokens", "output_tokens", "read_from"}


def _confidence(sample: Sample) -> float:
    return 1.0 if MARK in sample.records[0] else 0.0


@dataclass(slots=True)
class _Entries(RecordReading):
    """Entries in their final form; text that was cut when it was written stays cut."""

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        if MARK in value:
            self._introduce(object_at(value, "header"))
        elif kind := _KINDS.get(text_at(value, "kind")):
            return (_draft(kind, value, record.line),)
        elif "skipped" in value:
            skipped = as_object(value["skipped"])
            self.notes.skipped.update({reason: as_count(times) for reason, times in skipped.items()})
            for found in objects_at(value, "problems"):
                self.notes.problems.append(Problem(count_at(found, "line"), text_at(found, "reason")))
        else:
            self.notes.skip("no entry")
        return ()

    def _introduce(self, header: Mapping[str, Any]) -> None:
        tokens = {name: as_count(header.get(name)) for name in ("input_tokens", "output_tokens")}
        self.notes.learn(**{name: as_text(header.get(name)) for name in _TEXTS}, **tokens)
        found = object_at(header, "read_from")
        format_, source, digest = (text_at(found, name) for name in ("format", "source", "digest"))
        origin = Origin(format_, source, digest, count_at(found, "bytes"))
        self.notes.header = replace(self.notes.header, read_from=origin)


def _draft(kind: Kind, value: Mapping[str, Any], line: int) -> Draft:
    return Draft(
        kind,
        text_at(value, "text"),
        text_at(value, "id") or f"line-{line}",
        parse_time(value.get("time")),
        count_at(value, "line"),
        count_at(value, "offset"),
        tool=text_at(value, "tool") or None,
        tool_input=object_at(value, "tool_input") if "tool_input" in value else None,
        call_id=text_at(value, "call_id") or None,
        is_error=value.get("is_error") is True,
        paths=tuple(map(as_text, as_list(value.get("paths")))),
        agent=text_at(value, "agent") or None,
        is_meta=value.get("is_meta") is True,
    )


READER = FormatReader("nous", _confidence, _Entries)
