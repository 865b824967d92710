"""Reader for the format of nous: the output of `nous dev transcript PATH --json`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from nous.transcript.io.records import Record
from nous.transcript.model import Header, Kind, Origin, Problem
from nous.transcript.parsing.values import as_count, as_list, as_object, as_text, parse_time
from nous.transcript.reader import Draft, FormatReader, RecordReading, Sample

MARK = "nous_transcript"
"""Key of the first line that identifies this format; its value is the version."""

VERSION = 1

_KINDS = {kind.value: kind for kind in Kind}
_TEXTS = frozenset(field.name for field in fields(Header)) - {"input_tokens", "output_tokens", "read_from"}


def _sniff(sample: Sample) -> float:
    return 1.0 if sample.records and MARK in sample.records[0] else 0.0


@dataclass(slots=True)
class _Entries(RecordReading):
    """Entries in their final form; text that was cut when it was written stays cut."""

    STANDS_HERE: ClassVar[bool] = False

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        if MARK in value:
            self._introduce(as_object(value.get("header")))
        elif kind := _KINDS.get(as_text(value.get("kind"))):
            return (_draft(kind, value, record),)
        elif "skipped" in value:
            self.notes.skipped.update(
                {reason: as_count(times) for reason, times in as_object(value["skipped"]).items()}
            )
            for found in map(as_object, as_list(value.get("problems"))):
                self.notes.problems.append(Problem(as_count(found.get("line")), as_text(found.get("reason"))))
        else:
            self.notes.skip("no entry")
        return ()

    def _introduce(self, header: Mapping[str, Any]) -> None:
        tokens = {name: as_count(header.get(name)) for name in ("input_tokens", "output_tokens")}
        self.notes.learn(**{name: as_text(header.get(name)) for name in _TEXTS}, **tokens)
        found = as_object(header.get("read_from"))
        origin = Origin(
            as_text(found.get("format")),
            as_text(found.get("source")),
            as_text(found.get("digest")),
            as_count(found.get("bytes")),
        )
        self.notes.header = replace(self.notes.header, read_from=origin)


def _draft(kind: Kind, value: Mapping[str, Any], record: Record) -> Draft:
    return Draft(
        kind,
        as_text(value.get("text")),
        as_text(value.get("id")) or f"line-{record.line}",
        parse_time(value.get("time")),
        as_count(value.get("line")),
        as_count(value.get("offset")),
        tool=as_text(value.get("tool")) or None,
        tool_input=as_object(value.get("tool_input")) if "tool_input" in value else None,
        call_id=as_text(value.get("call_id")) or None,
        is_error=value.get("is_error") is True,
        paths=tuple(map(as_text, as_list(value.get("paths")))),
        agent=as_text(value.get("agent")) or None,
        is_meta=value.get("is_meta") is True,
    )


READER = FormatReader("nous", _sniff, _Entries)
